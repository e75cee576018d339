; package name;
(package_declaration
  [
    (identifier)
    (scoped_identifier)
  ] @import.module) @import.kind.package

; import package.Name; import static package.Name.member; import package.*;
(import_declaration
  [
    (identifier)
    (scoped_identifier)
  ] @import.module
  (asterisk)? @import.star) @import.kind.from
