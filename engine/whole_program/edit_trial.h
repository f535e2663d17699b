/// Decides which kernels' edits a program keeps: those with which it builds and passes its check,
/// and whose kernels become faster in it.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/whole_program/program_turns.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Decides which times have to become shorter by an edit, so that it is kept.
enum class EditSubject : std::uint8_t {
    Kernel, ///< Those of the kernel's launches.
    Host,   ///< All work of the GPU, or the time from its first work to its last.
    /// None: an edit of the host's code that has been shown to pay stays unless all work of the GPU
    /// becomes slower.
    PayingHost,
};

/// The edits that a search found for a kernel.
struct KernelEdits {
    std::string kernel;      ///< Qualified name.
    analysis::EditSet edits; ///< Edits of the tree's original texts; paths are from its root.
    double gain = 0;         ///< The part of the program's GPU time that it is expected to save.
    std::string symbol = {}; ///< Of an instantiation of a template; else empty.
    /// The symbols of the template's other hot instantiations, which the edits change as well.
    std::vector<std::string> others = {};
    /// The kernel whose edits these contain: another instantiation of the template, from whose
    /// edited text the search began.
    std::optional<std::size_t> base = std::nullopt;
    EditSubject subject = EditSubject::Kernel;
};

/// Times of both programs, or what failed in the edited one while it was timed.
struct TimedTurns {
    ProgramTurns turns;
    std::optional<std::string> failure;
};

/// The edited copy of a program.
class TrialProgram {
public:
    TrialProgram() = default;
    TrialProgram(const TrialProgram&) = delete;
    TrialProgram& operator=(const TrialProgram&) = delete;
    virtual ~TrialProgram() = default;

    /// Applies the edits to the original texts, builds, runs and checks. Returns what fails;
    /// nullopt if nothing does. Errors end the trial, such as Cancelled.
    [[nodiscard]] virtual Result<std::optional<std::string>>
    tryEdits(const analysis::EditSet& edits) = 0;
    /// Times the original and what tryEdits() has built last, in turns, and checks the latter
    /// again. A failure of the original is an error.
    [[nodiscard]] virtual Result<TimedTurns> time() = 0;
};

struct TakenBack {
    std::size_t at = 0; ///< Index of the kernel.
    std::string why;
    bool operator==(const TakenBack&) const = default;
};

struct EditOutcome {
    std::vector<std::size_t> kept; ///< Indices, in order.
    std::vector<TakenBack> takenBack;
    ProgramTurns turns; ///< Times with the edits that are kept; empty if none is.
    /// What was not done with the edits that are kept, since the trial was stopped, as a clause:
    /// "the program was not timed with them". Empty if all was done.
    std::string notDone;
};

/// All edits of the kernels with these indices. One that two kernels have is applied once, and so
/// are those of a base. InvalidInput if two overlap.
[[nodiscard]] Result<analysis::EditSet> joinedEdits(const std::vector<KernelEdits>& kernels,
                                                    const std::vector<std::size_t>& indices);

/// The names of functions that a kernel's edits may add: identifiers of their texts.
[[nodiscard]] std::set<std::string> addedNames(const KernelEdits& kernel);

/// The times of the kernel, or of the instantiation that it is.
[[nodiscard]] std::vector<TimePair> timesOf(const KernelEdits& kernel, const ProgramTurns& turns);

/// Returns how many times as fast an edit of the host's code makes the program: by the GPU's work,
/// without copies that both versions make, if that is faster; else by the time from the GPU's first
/// work to its last, which varies with the host. 1 if neither was measured.
[[nodiscard]] double speedupByHost(const ProgramTurns& turns);

/// Tries all edits at once. If that fails, takes back the kernel with the least gain until it
/// passes, and gives each of these but the last another chance, the one with the most gain first.
/// Then takes back kernels that are not faster in the program, or the one with the least gain if
/// the program fails while it is timed or the GPU's work is slower as a whole, copies aside that
/// both versions make, and tries and times the others again. A kernel that the edited program does
/// not launch is judged by the GPU's work, and edits of the host's code as EditSubject says. An
/// instantiation of a template is taken back, too, if another hot one is slower; and never before
/// those that it is the base of. A trial that is stopped (Cancelled) keeps what nothing speaks
/// against by then, and says what was not done.
[[nodiscard]] Result<EditOutcome> runTrial(const std::vector<KernelEdits>& kernels,
                                           TrialProgram& program);

} // namespace kernelskill::engine
