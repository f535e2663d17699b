/// The edits of skills on their own examples, by the whole Reviewer: a rule that refuses one of
/// them takes the skill from everybody.
#include "skills/skill_document.h"
#include "tests/engine/review/review_fixture.h"
#include "tests/paths.h"
#include "tests/samples.h"
#include "tests/skills/compiled_examples.h"
#include "tests/skills/skill_check.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

class SkillExamplesReview : public kernelskill::testing::ReviewFixture,
                            public ::testing::WithParamInterface<skills::SkillMetadata> {};

TEST_P(SkillExamplesReview, Accepts) {
    const std::string& id = GetParam().id;
    const skills::CompiledExample* compiled = skills::compiledExample(id);
    const std::string text = skills::readSource("skills/" + id + "/before.cu");
    skills::Subject subject = skills::parseSubject(text);
    if (compiled != nullptr)
        subject.compiled = compiled->before;
    const auto offer = skills::skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    const std::string edited = skills::appliedText(id, text, subject.compiled);
    ASSERT_NE(edited, text);
    const Verdict verdict = review(text, text, edited, accuracyOf(*offer, GetParam()));
    EXPECT_TRUE(isAccepted(verdict)) << edited << "\n" << report(verdict);
}

/// The one whose edit adds a function of the host, and a part of the others.
std::vector<skills::SkillMetadata> examples() {
    const auto folder = std::filesystem::path(paths::sourceFolder) / "skills";
    std::vector<skills::SkillMetadata> all = skills::loadSkillDocuments(folder).skills;
    const auto host = std::ranges::find(all, "persistent-kernel", &skills::SkillMetadata::id);
    std::rotate(all.begin(), host, host + 1);
    return sampleOf(all, 8);
}

INSTANTIATE_TEST_SUITE_P(Skills, SkillExamplesReview, ::testing::ValuesIn(examples()),
                         [](const auto& info) {
                             std::string name = info.param.id;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

} // namespace
} // namespace kernelskill::engine
