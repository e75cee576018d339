; use path::{name, other as alias, *};
(use_declaration
  .
  "use"
  argument: (_) @import.module) @import.kind.from

; pub use path::name;
(use_declaration
  (visibility_modifier)
  argument: (_) @import.module) @import.kind.reexport

; mod name;
(mod_item
  name: (identifier) @import.module @import.alias
  !body) @import.kind.import

; extern crate name as alias;
(extern_crate_declaration
  name: (identifier) @import.module
  alias: (identifier)? @import.alias) @import.kind.import
