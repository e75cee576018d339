; import "module"
(import_statement
  .
  source: (string) @import.module) @import.kind.import

; import name from "module": the name of a default import is filled in by the helper
(import_statement
  (import_clause
    (identifier) @import.alias)
  source: (string) @import.module) @import.kind.from

; import { name, name as alias } from "module"
(import_statement
  (import_clause
    (named_imports
      (import_specifier
        name: (_) @import.name
        alias: (identifier)? @import.alias)))
  source: (string) @import.module) @import.kind.from

; import * as alias from "module"
(import_statement
  (import_clause
    (namespace_import
      (identifier) @import.alias))
  source: (string) @import.module) @import.kind.import

; export { name, name as exported_as } from "module"
(export_statement
  (export_clause
    (export_specifier
      name: (_) @import.name
      alias: (_)? @import.exported_as))
  source: (string) @import.module) @import.kind.reexport

; export { name, name as exported_as }
(export_statement
  (export_clause
    (export_specifier
      name: (_) @import.name
      alias: (_)? @import.exported_as))
  !source) @import.kind.reexport

; export * from "module"
(export_statement
  "*" @import.star
  source: (string) @import.module) @import.kind.reexport

; export * as exported_as from "module"
(export_statement
  (namespace_export
    (_) @import.exported_as)
  source: (string) @import.module) @import.kind.reexport

; const alias = require("module")
((variable_declarator
  name: (identifier) @import.alias
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments
      .
      (string) @import.module
      .))) @import.kind.require
  (#eq? @_require "require"))

; const { name } = require("module")
((variable_declarator
  name: (object_pattern
    (shorthand_property_identifier_pattern) @import.name)
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments
      .
      (string) @import.module
      .))) @import.kind.require
  (#eq? @_require "require"))

; const { name: alias } = require("module")
((variable_declarator
  name: (object_pattern
    (pair_pattern
      key: (property_identifier) @import.name
      value: (identifier) @import.alias))
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments
      .
      (string) @import.module
      .))) @import.kind.require
  (#eq? @_require "require"))

; const alias = require("module").name
((variable_declarator
  name: (identifier) @import.alias
  value: (member_expression
    object: (call_expression
      function: (identifier) @_require
      arguments: (arguments
        .
        (string) @import.module
        .))
    property: (property_identifier) @import.name)) @import.kind.require
  (#eq? @_require "require"))

; require("module") anywhere
((call_expression
  function: (identifier) @_require
  arguments: (arguments
    .
    (string) @import.module
    .)) @import.kind.require
  (#eq? @_require "require"))

; import("module")
(call_expression
  function: (import)
  arguments: (arguments
    .
    (string) @import.module)) @import.kind.dynamic
