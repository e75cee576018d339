; package name
(package_clause
  name: (package_identifier) @import.module) @import.kind.package

; import name.Name, import name.{Name, Other => Alias, _}; the helper takes it apart
(import_declaration) @import.module @import.kind.from
