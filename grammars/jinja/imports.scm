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

; {% extends theme("path") %}, {% include theme("path") %}: a function chooses the folder
((tag_statement
  (tag) @_tag
  .
  (function_call
    (arguments
      .
      (argument
        (argument_value
          [
            (string)
            (interpolated_string)
          ] @import.module))))) @import.kind.import
  (#any-of? @_tag "extends" "include"))

; {% import theme("path") as name %}
(import_statement
  (function_call
    (arguments
      .
      (argument
        (argument_value
          [
            (string)
            (interpolated_string)
          ] @import.module))))
  (name) @import.alias) @import.kind.import

; {% from theme("path") import name %}
(from_statement
  .
  (tag)
  .
  (function_call
    (arguments
      .
      (argument
        (argument_value
          [
            (string)
            (interpolated_string)
          ] @import.module @import.star))))) @import.kind.from
