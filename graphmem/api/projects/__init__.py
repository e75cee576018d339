"""Many projects in one server: paths, logins, forwarding."""
