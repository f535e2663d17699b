/// A file of the user as it is executed: its text, its model and how it is compiled.
#pragma once

#include "analysis/command/compile_command.h"
#include "analysis/model/kernel_model.h"
#include "analysis/parse/translation_unit.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace kernelskill::engine {

class CaptureStore;

/// The editor's unsaved text replaces what is on disk, for the file and for the user's headers.
struct ProgramSource {
    std::string file;
    std::string text;
    analysis::UnsavedFiles unsaved;
    analysis::CompileCommand command;
    std::shared_ptr<const analysis::FileModel> model; ///< The model of exactly this text.
    /// The launches captured from the user's programs. Null if there is no store of captures.
    std::shared_ptr<const CaptureStore> captures = nullptr;
    /// Whether the user trusts this code: only then is it compiled and run. No executor and no
    /// compiler takes it otherwise.
    bool isTrusted = true;
    /// Conditions in `text`. A run on the emulator reports their outcomes (Profile::conditions).
    /// They may be nested. At most maxWatched.
    std::vector<analysis::Span> watched = {};
};

inline constexpr std::size_t maxWatched = 2048;

} // namespace kernelskill::engine
