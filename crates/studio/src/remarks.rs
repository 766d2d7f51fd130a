//! What users remark on fits: pins and notes. They are kept by the name of the fit's folder and follow it into the bin and back.

use serde::{Deserialize, Serialize};

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;

/// Longer notes belong into a document.
const LONGEST_NOTE: usize = 4000;

/// What a user remarked on a fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Remark {
    /// Whether it stands above the others.
    pub(crate) pinned: bool,
    /// Any text.
    pub(crate) note: String,
}

impl Remark {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl App {
    /// What was remarked on a fit.
    pub(crate) fn remark_on(&self, name: &str) -> Remark {
        self.store
            .read(|kept| kept.remarks.get(name).cloned().unwrap_or_default())
    }

    /// Pins a fit, or writes a note to it.
    pub(crate) fn remark(&self, name: &str, remark: Remark) -> ApiResult<()> {
        self.workspace.fit(name)?;
        let characters = remark.note.chars().count();
        if characters > LONGEST_NOTE {
            return Err(ApiError::bad(format!(
                "a note of {characters} characters: expected at most {LONGEST_NOTE}"
            )));
        }
        self.store.change(|kept| {
            match remark.is_empty() {
                true => kept.remarks.remove(name),
                false => kept.remarks.insert(name.to_owned(), remark),
            };
        })?;
        self.queue.tell_listing();
        Ok(())
    }

    /// A fit of that name is another one from now on.
    pub(crate) fn forget_remark(&self, name: &str) -> ApiResult<()> {
        match self.remark_on(name).is_empty() {
            true => Ok(()),
            false => self.store.change(|kept| {
                kept.remarks.remove(name);
            }),
        }
    }

    /// What was remarked follows a fit to its new name.
    pub(crate) fn move_remark(&self, name: &str, new: &str) -> ApiResult<()> {
        self.store.change(|kept| {
            // Nothing that an earlier fit of the new name had.
            kept.remarks.remove(new);
            if let Some(remark) = kept.remarks.remove(name) {
                kept.remarks.insert(new.to_owned(), remark);
            }
        })
    }

    /// The same into the bin.
    pub(crate) fn bin_remark(&self, name: &str, binned: &str) -> ApiResult<()> {
        self.store.change(|kept| {
            kept.bin_remarks.remove(binned);
            if let Some(remark) = kept.remarks.remove(name) {
                kept.bin_remarks.insert(binned.to_owned(), remark);
            }
        })
    }

    /// And back; what is erased has nowhere to go.
    pub(crate) fn unbin_remark(&self, binned: &str, restored: Option<&str>) -> ApiResult<()> {
        self.store.change(|kept| {
            if let (Some(remark), Some(name)) = (kept.bin_remarks.remove(binned), restored) {
                kept.remarks.insert(name.to_owned(), remark);
            }
        })
    }
}
