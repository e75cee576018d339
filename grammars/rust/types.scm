; fn name(pattern: Type)
(parameters
  (parameter
    pattern: (_) @name
    type: (_) @annotation) @parameter.normal)

; |name: Type|
(closure_expression
  parameters: (closure_parameters
    (parameter
      pattern: (identifier) @target
      type: (_) @annotation))) @binding.local

; |name|
(closure_expression
  parameters: (closure_parameters
    [
      (identifier)
      (reference_pattern)
      (ref_pattern)
      (mut_pattern)
      (tuple_pattern)
      (tuple_struct_pattern)
      (struct_pattern)
    ] @target)) @binding.local

; values.map(|name| …): one of the values
((call_expression
  function: (field_expression
    value: (_) @value
    field: (field_identifier) @_method)
  arguments: (arguments
    (closure_expression
      parameters: (closure_parameters
        .
        [
          (identifier)
          (reference_pattern)
          (ref_pattern)
          (tuple_pattern)
        ] @target
        .)) @extent)) @binding.local
  (#any-of? @_method
    "all" "and_then" "any" "filter" "filter_map" "find" "find_map" "flat_map" "for_each" "inspect" "is_some_and" "map" "map_while"
    "max_by_key" "min_by_key" "position" "skip_while" "sort_by_key" "take_while"))

; <Name: Trait>, where Name: Trait
(type_parameter
  name: (type_identifier) @target
  bounds: (trait_bounds
    .
    [
      (type_identifier)
      (scoped_type_identifier)
      (generic_type)
      (function_type)
      (higher_ranked_trait_bound)
    ] @annotation)) @binding.local

(type_parameter
  name: (type_identifier) @target
  !bounds) @binding.local

((where_predicate
  left: (type_identifier) @target
  bounds: (trait_bounds
    .
    [
      (type_identifier)
      (scoped_type_identifier)
      (generic_type)
      (function_type)
      (higher_ranked_trait_bound)
    ] @annotation)) @binding.local
  (#not-eq? @target "Self"))

; <Name: ?Sized + Trait>, where Name: 'a + Trait
(type_parameter
  name: (type_identifier) @target
  bounds: (trait_bounds
    .
    [(lifetime) (removed_trait_bound)]
    .
    [
      (type_identifier)
      (scoped_type_identifier)
      (generic_type)
      (function_type)
      (higher_ranked_trait_bound)
    ] @annotation)) @binding.local

((where_predicate
  left: (type_identifier) @target
  bounds: (trait_bounds
    .
    [(lifetime) (removed_trait_bound)]
    .
    [
      (type_identifier)
      (scoped_type_identifier)
      (generic_type)
      (function_type)
      (higher_ranked_trait_bound)
    ] @annotation)) @binding.local
  (#not-eq? @target "Self"))

; struct { name: Type }
(struct_item
  body: (field_declaration_list
    (field_declaration
      name: (field_identifier) @target
      type: (_) @annotation) @binding.annotate))

; enum Name { Unit, Tuple(…), Struct {…} }
(enum_item
  name: (type_identifier) @annotation
  body: (enum_variant_list
    (enum_variant
      name: (identifier) @target @binding.annotate
      !body)))

(enum_variant
  name: (identifier) @target
  body: (ordered_field_declaration_list) @value) @binding.assign

(enum_item
  name: (type_identifier) @value
  body: (enum_variant_list
    (enum_variant
      name: (identifier) @target
      body: (field_declaration_list)) @binding.assign))

; struct Name(Type), enum Name { Variant(Type), Variant { field: Type } }
(struct_item
  body: (ordered_field_declaration_list) @binding.members)

(enum_variant
  body: (_)) @binding.members

; const NAME: Type = value; static NAME: Type = value;
(const_item
  name: (identifier) @target
  type: (_) @annotation) @binding.annotate

(static_item
  name: (identifier) @target
  type: (_) @annotation) @binding.annotate

; impl Type { const NAME: Type = value; }: found under `Type.NAME`; impl Trait for Box<Type>
(impl_item) @binding.members

; let pattern: Type = value;
(let_declaration
  pattern: (_) @target
  type: (_) @annotation
  value: (_)? @value) @binding.assign

(let_declaration
  pattern: (_) @target
  !type
  value: (_) @value) @binding.assign

; if let pattern = value, while let pattern = value
(let_condition
  pattern: [
    (identifier)
    (tuple_struct_pattern)
    (struct_pattern)
    (tuple_pattern)
    (reference_pattern)
    (ref_pattern)
  ] @target
  value: (_) @value) @binding.assign

; match value { pattern => … }
((match_expression
  value: (_) @value
  body: (match_block
    (match_arm
      pattern: (match_pattern
        .
        (identifier) @target)) @binding.assign @extent))
  (#match? @target "^[a-z_]"))

(match_expression
  value: (_) @value
  body: (match_block
    (match_arm
      pattern: (match_pattern
        .
        [
          (tuple_struct_pattern)
          (struct_pattern)
          (tuple_pattern)
          (reference_pattern)
          (ref_pattern)
        ] @target)) @binding.assign @extent))

; for pattern in values
(for_expression
  pattern: (_) @target
  value: (_) @value) @binding.for

; target = value
(assignment_expression
  left: (_) @target
  right: (_) @value) @binding.set

(compound_assignment_expr
  left: (_) @target
  right: (_) @value) @binding.augment

; return value; value at the end of a function
(return_expression
  (_) @value) @binding.return

(function_item
  body: (block
    (_) @value @binding.return
    .))
