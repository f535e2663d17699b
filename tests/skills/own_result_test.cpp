/// A skill that has nothing left to win is not shown: on the `after.cu` of each skill, whichever
/// kernel and line the cursor is on, that skill offers nothing.
#include "skills/catalogue.h"
#include "tests/skills/compiled_examples.h"
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

using analysis::Span;

/// Every line of `text`, and the whole of it.
std::vector<Span> cursorsIn(const std::string& text) {
    std::vector<Span> cursors{{0, static_cast<std::uint32_t>(text.size())}};
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        cursors.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
        begin = end + 1;
    }
    return cursors;
}

class OwnResult : public testing::TestWithParam<std::string> {};

TEST_P(OwnResult, IsOfferedTheSkillNowhere) {
    const std::string text = readSource("skills/" + GetParam() + "/after.cu");
    Subject subject = parseSubject(text);
    if (const CompiledExample* example = compiledExample(GetParam()))
        subject.compiled = example->after;
    const Skill& skill = skillNamed(GetParam());
    for (subject.kernel = 0; subject.kernel < subject.file.kernels.size(); ++subject.kernel) {
        subject.features = analysis::extractFeatures(subject.file.kernels[subject.kernel]);
        const SkillContext kernel = subject.context();
        for (const Span cursor : cursorsIn(text)) {
            const SkillContext here = kernel.at(cursor);
            const auto offer = skill.prepare(here);
            EXPECT_FALSE(offer) << text.substr(cursor.begin, cursor.end - cursor.begin) << "\n"
                                << offer->why;
            // A search may measure other blocks than the one that fits.
            if (!offer && offer.error().gate != "block-fits")
                EXPECT_TRUE(skill.alternatives(here).empty());
        }
    }
}

std::vector<std::string> catalogueIds() {
    std::vector<std::string> ids;
    for (const auto& skill : makeCatalogue())
        ids.emplace_back(skill->id());
    return ids;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, OwnResult, testing::ValuesIn(catalogueIds()),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

} // namespace
} // namespace kernelskill::skills
