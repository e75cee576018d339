; namespace Name;
(namespace_definition
  name: (namespace_name) @import.module) @import.kind.package

; use Name\Class; use function Name\function;
(namespace_use_clause
  (qualified_name
    (name) @import.alias) @import.module
  !alias) @import.kind.import

; use Name\Class as Alias;
(namespace_use_clause
  (qualified_name) @import.module
  alias: (name) @import.alias) @import.kind.import

; use Name\{Class, Other as Alias}; use function Name\{function};
(namespace_use_declaration
  (namespace_name) @import.module
  body: (namespace_use_group
    (namespace_use_clause
      (name) @import.name
      alias: (name)? @import.alias) @import.kind.from))
