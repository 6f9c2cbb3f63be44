//! A small file for which a parse takes much of the stack.

/// Two tensors that overlap, of which the second is read again for the error, with escapes wherever
/// there can be some: the deepest way through a parse.
pub static DEEP: &[u8] = b"\x88\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\
    \"\\ud83d\\ude00\":{\"\\u0064type\":\"\\u00558\",\"sh\\u0061pe\":[4],\"data_offs\\u0065ts\":[0,4]}}....";
