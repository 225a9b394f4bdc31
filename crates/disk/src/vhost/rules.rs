//! Defines the messages a guest may send about a disk: when, of which length, with which file
//! descriptors.
//!
//! It covers exactly what User-Mode Linux sends; anything else is an error. Each rule gives the
//! stages of the session in which a message may come, which also defines the order.

use std::fmt::Display;

use zerocopy::byteorder::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::frame::{Frame, Purpose};

/// The maximum size of the configuration space.
pub const CONFIG_BYTES: u32 = 256;

/// The stage of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Connected,
    Owned,
    Offered,
    ProtocolOffered,
    ProtocolChosen,
    Callable,
    Chosen,
    Mapped,
}

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    SetOwner,
    GetFeatures,
    GetProtocolFeatures,
    SetProtocolFeatures,
    SetCallSocket,
    SetFeatures,
    GetConfig,
    SetConfig,
    SetMemoryTable,
    SetRingSlots,
    SetRingAddresses,
    SetRingBase,
    EnableRing,
}

/// The requirements of a message.
pub struct Rule {
    pub number: u32,
    pub name: &'static str,
    pub request: Request,
    /// The minimum and maximum size of the body.
    sizes: [usize; 2],
    descriptors: [usize; 2],
    /// The first and last stage in which it may come.
    stages: [Stage; 2],
    /// The stage reached by it, at least.
    pub then: Stage,
}

const fn rule(
    number: u32,
    name: &'static str,
    request: Request,
    size: usize,
    stages: [Stage; 2],
    then: Stage,
) -> Rule {
    Rule { number, name, request, sizes: [size, size], descriptors: [0, 0], stages, then }
}

/// All messages.
pub const RULES: [Rule; 13] = {
    use Stage::{
        Callable, Chosen, Connected, Mapped, Offered, Owned, ProtocolChosen, ProtocolOffered,
    };
    let config = [size_of::<ConfigPart>(), size_of::<ConfigPart>() + CONFIG_BYTES as usize];
    [
        rule(3, "SET_OWNER", Request::SetOwner, 0, [Connected, Connected], Owned),
        rule(1, "GET_FEATURES", Request::GetFeatures, 0, [Owned, Mapped], Offered),
        rule(
            15,
            "GET_PROTOCOL_FEATURES",
            Request::GetProtocolFeatures,
            0,
            [Offered, Offered],
            ProtocolOffered,
        ),
        rule(
            16,
            "SET_PROTOCOL_FEATURES",
            Request::SetProtocolFeatures,
            8,
            [ProtocolOffered, ProtocolOffered],
            ProtocolChosen,
        ),
        Rule {
            descriptors: [1, 1],
            ..rule(
                21,
                "SET_SLAVE_REQ_FD",
                Request::SetCallSocket,
                0,
                [ProtocolChosen, ProtocolChosen],
                Callable,
            )
        },
        rule(2, "SET_FEATURES", Request::SetFeatures, 8, [Callable, Mapped], Chosen),
        Rule {
            sizes: config,
            ..rule(24, "GET_CONFIG", Request::GetConfig, 0, [Callable, Mapped], Callable)
        },
        Rule {
            sizes: config,
            ..rule(25, "SET_CONFIG", Request::SetConfig, 0, [Chosen, Mapped], Chosen)
        },
        Rule {
            descriptors: [1, 2],
            ..rule(
                5,
                "SET_MEM_TABLE",
                Request::SetMemoryTable,
                size_of::<MemoryTable>(),
                [Chosen, Mapped],
                Mapped,
            )
        },
        rule(8, "SET_VRING_NUM", Request::SetRingSlots, 8, [Mapped, Mapped], Mapped),
        rule(10, "SET_VRING_BASE", Request::SetRingBase, 8, [Mapped, Mapped], Mapped),
        rule(
            9,
            "SET_VRING_ADDR",
            Request::SetRingAddresses,
            size_of::<RingAddresses>(),
            [Mapped, Mapped],
            Mapped,
        ),
        rule(18, "SET_VRING_ENABLE", Request::EnableRing, 8, [Mapped, Mapped], Mapped),
    ]
};

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
pub struct ConfigPart {
    pub offset: U32,
    pub size: U32,
    pub flags: U32,
}

#[derive(FromBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
pub struct RingState {
    pub index: U32,
    pub number: U32,
}

#[derive(FromBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
pub struct RingAddresses {
    pub index: U32,
    pub flags: U32,
    pub descriptors: U64,
    pub used: U64,
    pub available: U64,
    pub log: U64,
}

#[derive(FromBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
pub struct Region {
    pub guest_address: U64,
    pub size: U64,
    pub user_address: U64,
    pub file_offset: U64,
}

#[derive(FromBytes, Immutable, KnownLayout, Unaligned, Clone, Copy)]
#[repr(C)]
pub struct MemoryTable {
    pub count: U32,
    pub padding: U32,
    pub regions: [Region; 2],
}

/// What is wrong with a message: which part, what was expected, what was found.
pub struct Fault(pub &'static str, pub String, pub String);

impl Fault {
    pub fn new(what: &'static str, expected: &dyn Display, found: &dyn Display) -> Self {
        Self(what, expected.to_string(), found.to_string())
    }
}

impl Rule {
    /// Checks a message with this number at a stage.
    pub fn check(&self, frame: &Frame, stage: Stage) -> Result<(), Fault> {
        let within = |what, found: usize, [least, most]: [usize; 2]| match found {
            found if (least..=most).contains(&found) => Ok(()),
            found if least == most => Err(Fault::new(what, &least, &found)),
            found => Err(Fault::new(what, &format!("{least} to {most}"), &found)),
        };
        within("the size of its body", frame.body.len(), self.sizes)?;
        within("the number of its file descriptors", frame.descriptors.len(), self.descriptors)?;
        if frame.purpose == Purpose::Reply {
            return Err(Fault::new("its purpose", &"a request", &"a reply"));
        }
        let [first, last] = self.stages;
        if !(first..=last).contains(&stage) {
            let expected = format!("between {first:?} and {last:?}");
            return Err(Fault::new("the stage of the session", &expected, &format!("{stage:?}")));
        }
        Ok(())
    }
}
