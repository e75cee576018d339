"""An open project: its parts implement the operations of graphmem.

An operation is a question or a change that every interface offers, such as `impact` or `remember`.
"""
