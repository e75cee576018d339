; package name: the file shares its names with the files of its package
(package_clause
  (package_identifier) @import.module) @import.kind.package

; //go:build linux && !cgo: the file is part of some builds only
(source_file
  (comment) @import.module @import.kind.constraint
  (#match? @import.module "^//go:build "))

; import "path", import name "path", import _ "path"
(import_spec
  !name
  path: (interpreted_string_literal) @import.module) @import.kind.import

(import_spec
  name: [
    (package_identifier)
    (blank_identifier)
  ] @import.alias
  path: (interpreted_string_literal) @import.module) @import.kind.import

; import . "path"
(import_spec
  name: (dot) @import.star
  path: (interpreted_string_literal) @import.module) @import.kind.from
