// Boxes, strings, and a vector that grows, from Rust's standard library.
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::mem::forget;
use std::os::fd::FromRawFd;

mod store {
    use super::*;

    #[inline(never)]
    pub fn keep_boxes() {
        for _ in 0..17 {
            forget(black_box(Box::new([0u8; 200])));
        }
    }

    #[inline(never)]
    pub fn keep_strings() {
        for _ in 0..13 {
            forget(black_box(String::from("fourteen bytes")));
        }
    }

    // Of room for 4, 8, 16, 32, 64 and 128 numbers.
    #[inline(never)]
    pub fn grow_vector() {
        let mut numbers: Vec<u64> = Vec::new();
        for number in 0..100 {
            numbers.push(black_box(number));
        }
        forget(black_box(numbers));
    }

    #[inline(never)]
    pub fn drop_all() {
        for _ in 0..23 {
            drop(black_box(vec![1u8; 64]));
        }
    }
}

fn await_line(input: &mut File) {
    let mut byte = [0u8];
    while input.read(&mut byte).unwrap_or(0) == 1 && byte[0] != b'\n' {}
}

fn main() {
    let (mut input, mut output) = unsafe { (File::from_raw_fd(0), File::from_raw_fd(1)) };
    let pid = std::process::id();
    writeln!(output, "ready {pid}").unwrap();
    await_line(&mut input);
    store::keep_boxes();
    store::keep_strings();
    store::grow_vector();
    store::drop_all();
    writeln!(output, "done {pid}").unwrap();
    await_line(&mut input);
}
