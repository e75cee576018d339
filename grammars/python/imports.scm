; import module
(import_statement
  name: (dotted_name) @import.module @import.kind.import)

; import module as alias
(import_statement
  name: (aliased_import
    name: (dotted_name) @import.module
    alias: (identifier) @import.alias) @import.kind.import)

; from module import name
(import_from_statement
  module_name: (_) @import.module
  name: (dotted_name) @import.name @import.kind.from)

; from module import name as alias
(import_from_statement
  module_name: (_) @import.module
  name: (aliased_import
    name: (dotted_name) @import.name
    alias: (identifier) @import.alias) @import.kind.from)

; from module import *
(import_from_statement
  module_name: (_) @import.module
  (wildcard_import) @import.star @import.kind.from)
