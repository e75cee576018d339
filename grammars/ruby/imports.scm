; require "path", require_relative "path"
((call
  !receiver
  method: (identifier) @_method
  arguments: (argument_list
    (string) @import.module)) @import.kind.require
  (#any-of? @_method "require" "require_relative" "load" "autoload"))
