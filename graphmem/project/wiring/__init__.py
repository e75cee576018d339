"""Create the parts of a project, and connect them.

A part is an object that implements some operations. Five steps create the parts, each after the parts that it needs.
"""
