"""The part of the Workers runtime's own package that patches of the SDK are written against."""
