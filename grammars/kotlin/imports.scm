; package name
(package_header
  (identifier) @import.module) @import.kind.package

; @file:JvmName("Name"): the class that Java sees the functions of the file in
(file_annotation
  (constructor_invocation
    (user_type
      (type_identifier) @_annotation)
    (value_arguments
      (value_argument
        (string_literal
          (string_content) @import.alias) @import.module)))
  (#eq? @_annotation "JvmName")) @import.kind.package

; import name.Name
(import_header
  (identifier
    (simple_identifier) @import.alias
    .) @import.module
  .) @import.kind.import

; import name.Name, with the documentation of what follows inside
(import_header
  (identifier
    (simple_identifier) @import.alias
    .) @import.module
  .
  [
    (line_comment)
    (multiline_comment)
  ]) @import.kind.import

; import name.Name as Alias
(import_header
  (identifier) @import.module
  (import_alias
    (type_identifier) @import.alias)) @import.kind.import

; import name.*
(import_header
  (identifier) @import.module
  (wildcard_import) @import.star) @import.kind.from
