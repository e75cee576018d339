; inherits: cfamily

; namespace name {…}: files of one namespace share its names
(namespace_definition
  name: (namespace_identifier) @import.module) @import.kind.package
