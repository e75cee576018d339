; import Module
(import_declaration
  (identifier) @import.module) @import.kind.import
