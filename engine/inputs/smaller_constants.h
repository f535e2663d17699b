/// The same program at another size, where its text states the size: `#define N 4096`.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/source/text_edit.h"

#include <optional>
#include <string>

namespace kernelskill::engine {

struct SmallerConstants {
    /// They keep the length of each text, so that spans in it still hold.
    analysis::EditSet edits;
    std::string label; ///< "NX=128, NY=128"
};

/// Divides integer constants of the user's files by about `factor`: macros, and constants at file
/// scope, as the preprocessor leaves them. Those stay that are small, that follow from others,
/// whose names speak of blocks, threads or tiles, or that are extents of shared arrays and nothing
/// else. A new value has the same rest modulo 32, and
/// modulo 128 if that is zero. nullopt if no constant changes.
///
/// The program at these sizes may make no sense: the caller has to find that out by running it.
[[nodiscard]] std::optional<SmallerConstants> smallerConstants(const analysis::FileModel& file,
                                                               double factor);

} // namespace kernelskill::engine
