//! Tables indexed by their own kind of number, so that a task is never looked up as a queue.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use crate::cpu::CpuIx;

/// A number that indexes one kind of table.
pub trait Ix: Copy + Eq {
    /// As a position.
    fn at(self) -> usize;
    /// From a position.
    fn from_at(at: usize) -> Self;
}

impl Ix for CpuIx {
    #[inline]
    fn at(self) -> usize {
        CpuIx::at(self)
    }

    #[inline]
    fn from_at(at: usize) -> Self {
        CpuIx::from_at(at)
    }
}

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl Ix for $name {
            #[inline]
            fn at(self) -> usize {
                self.0 as usize
            }

            #[inline]
            fn from_at(at: usize) -> Self {
                debug_assert!(u32::try_from(at).is_ok());
                $name(at as u32)
            }
        }
    )+};
}

index!(
    /// A task.
    TaskIx,
    /// A scheduling entity: a task's, or a group's on one CPU.
    SeIx,
    /// A queue of fair entities: the root's or a group's on one CPU.
    CfsRqIx,
    /// A task group (cgroup with the cpu controller).
    GroupIx,
    /// One CPU's copy of a sched domain.
    SdIx,
    /// A last-level cache.
    LlcIx,
    /// An address space.
    MmIx,
    /// A pipe.
    PipeIx,
    /// One direction of a socket pair or a connection.
    SockIx,
    /// A futex word.
    FutexIx,
    /// What one instance of a workload has counted.
    MeterIx,
);

/// A growing table.
#[derive(Clone, Debug)]
pub struct Table<I, T> {
    items: Vec<T>,
    index: PhantomData<I>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Table {
            items: Vec::new(),
            index: PhantomData,
        }
    }
}

impl<I: Ix, T> Table<I, T> {
    /// Appends an item and returns its number.
    pub fn push(&mut self, item: T) -> I {
        let at = I::from_at(self.items.len());
        self.items.push(item);
        at
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The numbers in order.
    pub fn indices(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_at)
    }
}

impl<I: Ix, T> FromIterator<T> for Table<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        Table {
            items: items.into_iter().collect(),
            index: PhantomData,
        }
    }
}

impl<I: Ix, T> Index<I> for Table<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, at: I) -> &T {
        &self.items[at.at()]
    }
}

impl<I: Ix, T> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, at: I) -> &mut T {
        &mut self.items[at.at()]
    }
}
