; name(…), $object->name(…), Name::name(…), new Name(…)
(function_call_expression) @reference.call

(member_call_expression) @reference.call

(nullsafe_member_call_expression) @reference.call

(scoped_call_expression) @reference.call

(object_creation_expression) @reference.call

; $object->name, Name::CONSTANT, Name::class; targets are left out by the engine
(member_access_expression) @reference.read

(class_constant_access_expression) @reference.read

; value instanceof Name, Name::$property
(binary_expression
  operator: "instanceof"
  right: [
    (name)
    (qualified_name)
  ] @reference.read)

(scoped_property_access_expression
  scope: [
    (name)
    (qualified_name)
  ] @reference.read)

; function (…): Type {…}, fn (…): Type => …
(anonymous_function
  return_type: (_) @reference.type)

(arrow_function
  return_type: (_) @reference.type)
