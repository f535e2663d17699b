/// Finds edited code that no input of a review reached.
#pragma once

#include "engine/review/code_conditions.h"
#include "engine/review/trial_run.h"
#include "engine/verdict/check_result.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The two versions of a program under review, and what their conditions were in the runs that both
/// agreed on.
class EditReach {
public:
    /// Both programs have models. They are copied.
    EditReach(const ProgramSource& original, const ProgramSource& candidate);

    /// The programs with their conditions watched. To be built instead of the given ones.
    [[nodiscard]] const ProgramSource& original() const { return original_.program; }
    [[nodiscard]] const ProgramSource& candidate() const { return candidate_.program; }

    /// The parts of each text that differ from the other.
    [[nodiscard]] const std::vector<analysis::Span>& editedInOriginal() const {
        return original_.edited;
    }
    [[nodiscard]] const std::vector<analysis::Span>& editedInCandidate() const {
        return candidate_.edited;
    }

    void add(const RunPair& pair);

    /// Performs the check that each edited part ran, in both versions, as far as the compiler kept
    /// it: code that hangs on a condition, and the other outcome of a condition that was edited.
    /// Code that both versions have and neither reached is left out, and so is a copy of code that
    /// was reached. The check holds, and says so,
    /// where the address in a pointer decides, and where a guard by sizes and places, not
    /// compared with a number, never kept a thread from its work.
    [[nodiscard]] CheckResult check() const;

private:
    struct Version {
        ProgramSource program;
        std::vector<CodeCondition> conditions;
        std::vector<analysis::Span> edited; ///< Empty spans are places of deletions.
        Outcomes outcomes;
    };

    /// Sentences about edited code that was not reached.
    struct Unreached {
        std::vector<std::string> unshown;
        std::vector<std::string> untried; ///< By conditions that runs do not vary.
    };

    [[nodiscard]] static Version versionOf(const ProgramSource& program);
    [[nodiscard]] static Unreached unreached(const Version& version, const Version& other);

    Version original_;
    Version candidate_;
};

} // namespace kernelskill::engine
