// The Rust counterpart of inlines.cc. Never run.

use std::collections::{BTreeMap, HashMap};

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Shape {
    Square(u32),
    Named { name: String },
    Path(Vec<u64>),
}

trait Weigh {
    fn weigh(&self) -> u64;
}

impl Weigh for Shape {
    fn weigh(&self) -> u64 {
        match self {
            Shape::Square(side) => u64::from(*side) * u64::from(*side),
            Shape::Named { name } => name.bytes().map(u64::from).sum(),
            Shape::Path(points) => points.iter().fold(0, |sum, p| sum * 31 + p),
        }
    }
}

fn shapes(seed: u32) -> Vec<Shape> {
    (0..40)
        .map(|i| match (seed + i) % 3 {
            0 => Shape::Square(i),
            1 => Shape::Named { name: format!("shape {}", i) },
            _ => Shape::Path((0..u64::from(i)).collect()),
        })
        .collect()
}

fn main() {
    let mut all = shapes(std::env::args().count() as u32);
    all.sort();
    let mut weights: HashMap<Shape, u64> = HashMap::new();
    for shape in &all {
        *weights.entry(shape.clone()).or_default() += shape.weigh();
    }
    let ordered: BTreeMap<_, _> = weights.iter().collect();
    let boxes: Vec<Box<dyn Weigh>> =
        all.into_iter().map(|shape| Box::new(shape) as Box<dyn Weigh>).collect();
    let heaviest = boxes.iter().map(|shape| shape.weigh()).max();
    println!("{} {:?}", ordered.values().map(|w| **w).sum::<u64>(), heaviest);
}
