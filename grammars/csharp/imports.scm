; namespace Name {…}, namespace Name;
(namespace_declaration
  name: (_) @import.module) @import.kind.package

(file_scoped_namespace_declaration
  name: (_) @import.module) @import.kind.package

; using Name; using static Name.Class; global using Name;
(using_directive
  "global"? @import.exported_as
  !name
  [
    (identifier)
    (qualified_name)
  ] @import.module @import.star) @import.kind.from

; using Alias = Name.Class; global using Alias = Name.Class;
(using_directive
  "global"? @import.exported_as
  name: (identifier) @import.alias
  [
    (identifier)
    (qualified_name)
  ] @import.module
  .) @import.kind.import
