/// A file of the user as it is executed: its text, its model and how it is compiled.
#pragma once

#include "analysis/command/compile_command.h"
#include "analysis/model/kernel_model.h"
#include "analysis/parse/translation_unit.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

class CaptureStore;

/// A condition whose outcomes a run on the emulator reports.
struct WatchedCondition {
    std::string file; ///< Empty for the main file.
    analysis::Span span;
    /// The condition of the `switch`, if this is one of its labels: `span` is then the label's
    /// value or the word `default`, and the outcome is true where the label is chosen.
    std::optional<analysis::Span> switched = std::nullopt;
    bool isInConstexpr = false; ///< In a function that the compiler may run as well.
};

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
    /// A run reports their outcomes (Profile::conditions). They may be nested. All labels of a
    /// `switch` are among them, or none. At most maxWatched.
    std::vector<WatchedCondition> watched = {};
    /// Whether a run on the emulator finds accesses beyond the end of a thread's own variables.
    bool followsLocals = false;
    /// Whether a run on the emulator ends at each integer division by zero, also at those that the
    /// compiler does without because nothing needs the quotient.
    bool checksDivisions = false;
};

inline constexpr std::size_t maxWatched = 2048;

} // namespace kernelskill::engine
