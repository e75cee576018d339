; inherits: ecmascript

; import alias = require("module")
(import_statement
  (import_require_clause
    (identifier) @import.alias
    source: (string) @import.module)) @import.kind.require

; declare module "module" { interface Name {…} }: what is added to a declaration of another file
(ambient_declaration
  (module
    name: (string) @import.module
    body: (statement_block
      [
        (interface_declaration
          name: (type_identifier) @import.name)
        (class_declaration
          name: (type_identifier) @import.name)
        (export_statement
          declaration: [
            (interface_declaration
              name: (type_identifier) @import.name)
            (class_declaration
              name: (type_identifier) @import.name)
          ])
      ] @import.kind.augment)))
