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

    /// The programs with their conditions watched and their locals followed. To be built instead of
    /// the given ones.
    [[nodiscard]] const ProgramSource& original() const { return original_.program; }
    [[nodiscard]] const ProgramSource& candidate() const { return candidate_.program; }

    /// The parts of each main file's text that differ from the other.
    [[nodiscard]] const std::vector<analysis::Span>& editedInOriginal() const {
        return original_.files.front().edited;
    }
    [[nodiscard]] const std::vector<analysis::Span>& editedInCandidate() const {
        return candidate_.files.front().edited;
    }

    void add(const RunPair& pair);

    /// One of the programs did not compile with its conditions watched, so runs do not tell.
    void loseOutcomes() { isLost_ = true; }

    /// Reviews of each of several steps showed that their code is reached. Then the check holds,
    /// and says what these runs did not reach.
    void trustSteps() { isShownBySteps_ = true; }

    /// Performs the check that each edited part ran, in both versions, as far as the compiler kept
    /// it: code that hangs on a condition or on a label, and the other outcome of a condition that
    /// was edited. Fails for an edited condition that cannot be watched, in a lambda or a macro.
    /// Code that both versions have and neither reached is left out, and so is a copy of code that
    /// was reached. The check holds, and says so,
    /// where the address in a pointer decides, and where a guard by sizes and places, with no
    /// number but bounds that the other version has, never kept a thread from its work.
    [[nodiscard]] CheckResult check() const;

private:
    struct File {
        std::string name; ///< Empty for the main file.
        std::string text;
        std::vector<analysis::Span> edited; ///< Empty spans are places of deletions.
    };
    /// A condition, and the index of its file.
    struct Watched {
        CodeCondition condition;
        std::size_t file = 0;
    };
    struct Version {
        ProgramSource program;
        std::vector<File> files; ///< The main file, and headers that the edit changes.
        std::vector<Watched> conditions;
        std::vector<std::string> unwatched; ///< Sentences about edited ones.
        Outcomes outcomes;
    };

    /// Sentences about edited code that was not reached.
    struct Unreached {
        std::vector<std::string> unshown;
        std::vector<std::string> untried; ///< By conditions that runs do not vary.
    };

    /// Adds a file to both versions.
    void addFile(const std::string& name, std::string before, std::string after);
    static void dropBeyondLimit(std::vector<Watched>& conditions);
    static void findConditions(Version& version, const Version& other);
    [[nodiscard]] static bool hasEditedConditions(const Version& version);
    [[nodiscard]] static Unreached unreached(const Version& version, const Version& other);

    Version original_;
    Version candidate_;
    bool isLost_ = false;
    bool isShownBySteps_ = false;
};

} // namespace kernelskill::engine
