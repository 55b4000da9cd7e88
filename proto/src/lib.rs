//! The wire: schedrig.v1 and its conversions to and from the model.
