/// Tables of wrong edits that the Reviewer has to refuse, and of right ones that it has to accept.
#pragma once

#include "tests/engine/review/review_fixture.h"
#include "tests/gate/planted_file.h"
#include "tests/paths.h"
#include "tests/samples.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace kernelskill::testing {

/// The first `from` in `text` becomes `to`.
struct PlantedEdit {
    std::string name;
    std::string text;
    std::string from;
    std::string to;
    skills::Accuracy accuracy = {};
    friend std::ostream& operator<<(std::ostream& out, const PlantedEdit& edit) {
        return out << edit.name;
    }
};

/// The edit of that name of a kernel of tests/gate/planted/`file`. If there is none, or if it has
/// several places, `from` says so, which `text` does not contain: its test fails with that.
inline PlantedEdit plantedIn(const std::string& file, const std::string& kernel,
                             const std::string& name) {
    const auto programs =
        readPlanted(std::filesystem::path(paths::sourceFolder) / "tests/gate/planted" / file);
    if (!programs)
        return {name, {}, programs.error().describe(), {}};
    for (const PlantedProgram& program : *programs)
        for (const PlantedCase& one : program.cases)
            if (program.name == kernel && one.name == name && one.edits.size() == 1) {
                const analysis::TextEdit& edit = one.edits.front();
                const std::size_t size = edit.span.end - edit.span.begin;
                return {name, program.text, program.text.substr(edit.span.begin, size),
                        edit.newText, one.accuracy};
            }
    return {name, {}, file + " has no edit '" + name + "' of '" + kernel + "' in one place", {}};
}

class PlantedEdits : public ReviewFixture, public ::testing::WithParamInterface<PlantedEdit> {
protected:
    [[nodiscard]] engine::Verdict verdict() const {
        const PlantedEdit& edit = GetParam();
        return review(edit.text, edit.from, edit.to, edit.accuracy);
    }

    /// A refusal because of the edit: not because the kernel cannot be run or compared.
    static void expectRefused(const engine::Verdict& verdict) {
        EXPECT_FALSE(isAccepted(verdict)) << report(verdict);
        EXPECT_TRUE(verdict.isAboutEdit) << report(verdict);
    }
};

/// The name of a test with this parameter.
inline std::string numberOf(const ::testing::TestParamInfo<PlantedEdit>& info) {
    return std::to_string(info.index);
}

} // namespace kernelskill::testing
