/// A kernel's text behind a primitive that rewrites it.
#pragma once

#include "analysis/source/text_edit.h"
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {

using Rewrites = std::vector<analysis::TextEdit>(const SkillContext&);

/// The source with the edits of `rewrites` for its first kernel. Fails the test where the source
/// or the result does not parse.
[[nodiscard]] inline std::string rewrittenText(Rewrites& rewrites, const std::string& source) {
    const Subject subject = parseSubject(source);
    EXPECT_EQ(errorsOf(subject.file), "");
    auto text = analysis::applyEdits(subject.file.source->text(), rewrites(subject.context()));
    EXPECT_TRUE(text) << text.error().describe();
    if (!text)
        return {};
    EXPECT_EQ(errorsOf(parseSubject(*text).file), "") << *text;
    return *text;
}

} // namespace kernelskill::skills
