; inherits: cfamily

; namespace name {…}: files of one namespace share its names
(namespace_definition
  name: (namespace_identifier) @import.module) @import.kind.package

; namespace outer::name {…}
(namespace_definition
  name: (nested_namespace_specifier) @import.module) @import.kind.package

; #define BEGIN namespace outer { namespace name {
((preproc_def
  value: (preproc_arg) @import.module) @import.kind.package
  (#match? @import.module "^\\s*(inline\\s+)?namespace\\s+\\w"))

; #define NAME_NAMESPACE outer::name
((preproc_def
  name: (identifier) @_name
  value: (preproc_arg) @import.module) @import.kind.package
  (#match? @_name "NAMESPACE|(^|_)NS$")
  (#match? @import.module "^\\s*[A-Za-z_]\\w*(::\\w+)*\\s*$"))
