; {% extends "path" %}, {% include "path" %}
((tag_statement
  (tag) @_tag
  .
  [
    (string)
    (interpolated_string)
  ] @import.module) @import.kind.import
  (#any-of? @_tag "extends" "include"))

; {% import "path" as name %}
(import_statement
  [
    (string)
    (interpolated_string)
  ] @import.module
  (name) @import.alias) @import.kind.import

; {% from "path" import name, other %}: all macros of the file
(from_statement
  .
  (tag)
  .
  [
    (string)
    (interpolated_string)
  ] @import.module @import.star) @import.kind.from
