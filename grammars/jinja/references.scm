; name(…), module.name(…)
(function_call) @reference.call

; value|name, value|name(…)
(filter) @reference.call
