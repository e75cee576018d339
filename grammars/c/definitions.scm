; inherits: cfamily
