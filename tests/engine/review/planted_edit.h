/// Tables of wrong edits that the Reviewer has to refuse, and of right ones that it has to accept.
#pragma once

#include "tests/engine/review/review_fixture.h"
#include "tests/samples.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace kernelskill::testing {

/// The first `from` in `text` becomes `to`.
struct PlantedEdit {
    const char* name;
    std::string text;
    std::string from;
    std::string to;
    skills::Accuracy accuracy = {};
    friend std::ostream& operator<<(std::ostream& out, const PlantedEdit& edit) {
        return out << edit.name;
    }
};

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
