; source path, . path: everything the file defines is defined here too
((command
  name: (command_name
    (word) @import.star)
  .
  argument: (_) @import.module) @import.kind.from
  (#any-of? @import.star "source" "."))
