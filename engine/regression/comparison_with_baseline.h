/// Compares counts with those of a baseline.
#pragma once

#include "engine/regression/baseline.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

enum class CountChange : std::uint8_t {
    Same,
    Better,        ///< A count fell, none rose.
    Worse,         ///< A regression that is certain; see compareCounts().
    Mixed,         ///< Some counts rose and others fell: only a measurement can tell.
    New,           ///< Not in the baseline.
    Removed,       ///< Only in the baseline.
    NotComparable, ///< Another problem, or counted by another version.
    NotRun,        ///< Could be run neither then nor now.
};
/// "same", "better", "worse", "mixed", "new", "removed", "not-comparable", "not-run"
[[nodiscard]] std::string_view spelling(CountChange change);

struct ChangedCount {
    const char* words; ///< See CountedMetric.
    const char* name;
    double before = 0;
    double after = 0;
};

struct CountedKernelChange {
    std::string file;
    std::string kernel;
    CountChange change = CountChange::Same;
    std::vector<ChangedCount> counts; ///< The counts that differ by more than the tolerance.
    std::string reason;               ///< One sentence; empty if counts say it all.
};

struct CountTolerance {
    double percent = 1; ///< A count that rises or falls by no more is the same.
};

/// A kernel is Worse if a count rose and none fell; if the cost model's intervals of both do not
/// overlap and the new one is later; if it has a hazard that is certain and that it had not; or if
/// it could be run before and cannot now. nullptr: it is not there.
[[nodiscard]] CountedKernelChange
compareCounts(const CountedKernel* before, const CountedKernel* after, CountTolerance tolerance);

/// All kernels of `now`, in its order, then those of the baseline that are gone. Counts of another
/// version of the tool are not compared.
[[nodiscard]] std::vector<CountedKernelChange>
compareWithBaseline(const Baseline& baseline, const Baseline& now, CountTolerance tolerance);

} // namespace kernelskill::engine
