/// Searches the hot kernels of a program, inside of it or at launches that were captured from it.
#pragma once

#include "engine/model/language_model.h"
#include "engine/whole_program/host_edit.h"
#include "engine/whole_program/optimized_kernel.h"
#include "engine/whole_program/program_pair.h"
#include "lsp-server/program/captured_kernels.h"
#include "lsp-server/program/injected_run.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::lsp {

struct ProgramSearch {
    std::string kernel;            ///< This kernel alone; empty: all hot ones.
    std::uint64_t maxKernels = 20; ///< No more can have 5 % of the time each.
    std::chrono::seconds budget{60};
    engine::OptimizationOptions options;
    /// Whether kernels are searched inside the program, where that can be.
    bool holds = true;
    /// Whether captured launches are timed on a GPU; else the emulator runs them.
    bool measures = false;
};

/// Receives a search's messages while it runs. The search calls both functions, on its own thread;
/// both must be set.
struct SearchMessages {
    /// Gets a sentence without a full stop: the step that begins, or a note.
    std::function<void(const std::string& sentence)> say;
    /// Gets the search's current activity. `done` is the fraction of all searches that has
    /// finished, 0 to 1.
    std::function<void(std::string_view what, double done)> progress;
};

/// The workspace's tools that a search uses.
struct SearchTools {
    Options options;
    std::shared_ptr<const engine::Workbench> workbench;
    /// Makes the reader of files below `root`, with the compile commands that the options name.
    std::function<CapturedKernels::Reader(const std::filesystem::path& root,
                                          const Options& options)>
        readerOf;
    engine::LanguageModel* model = nullptr; ///< Null: none is asked.
    SearchMessages messages;
};

struct SearchedProgram {
    std::vector<engine::OptimizedKernel> kernels;
    /// Edits of the host's code that the Reviewer does not refuse, and that are not tried yet.
    std::vector<engine::HostEdit> hostEdits;
};

/// Captures launches of the hot kernels in the original's copy and spends the budget on them, by
/// engine::timeForNext(). Each is searched with the program held at its first launch; on the
/// captured launch on the emulator or on Slurm, or if the program cannot be held. An instantiation
/// of a template is a kernel of its own; its search begins from the text that the one before has
/// left, and what it finds is taken back if it is wrong or slower at another hot one in the
/// program. Then skills are asked for edits of the host's code around the launches of these
/// kernels. Edits of a result name files of that copy. If `stop` is requested after a search has
/// found something, the result is what was found by then. Errors: those of a run; InvalidInput if
/// no kernel has the name; Cancelled.
[[nodiscard]] Result<SearchedProgram>
searchProgram(const engine::ProgramPair& pair, const engine::ProgramProfile& profile,
              const ProgramSearch& search, const SearchTools& tools, const std::stop_token& stop);

} // namespace kernelskill::lsp
