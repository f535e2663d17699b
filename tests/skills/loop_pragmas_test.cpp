/// Edits of kernels whose loops all have a `#pragma unroll`, which has to stay before its loop.
#include "skills/catalogue.h"
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

using namespace analysis;

std::vector<std::string> examples() {
    std::vector<std::string> found;
    for (const auto& skill : makeCatalogue())
        found.emplace_back(skill->id());
    return found;
}

/// The text with a pragma before each loop of its kernels that begins a line and has none.
std::string withPragmas(const FileModel& file, std::string text) {
    std::vector<std::uint32_t> loops;
    for (const KernelModel& kernel : file.kernels)
        for (const Stmt& stmt : kernel.body.stmts)
            if (stmt.kind == StmtKind::For && stmt.pragma.empty() && !stmt.fromMacro)
                loops.push_back(stmt.span.begin);
    std::ranges::sort(loops, std::greater());
    for (const std::uint32_t loop : loops) {
        const std::size_t line = text.rfind('\n', loop) + 1;
        if (text.find_first_not_of(" \t", line) == loop)
            text.insert(line, "#pragma unroll 2\n");
    }
    return text;
}

class LoopPragmas : public ::testing::TestWithParam<std::string> {};

TEST_P(LoopPragmas, StayBeforeTheirLoops) {
    const std::string text = readSource("skills/" + GetParam() + "/before.cu");
    const std::string before = withPragmas(parseSubject(text).file, text);
    Subject subject = parseSubject(before);
    ASSERT_EQ(errorsOf(subject.file), "");
    for (subject.kernel = 0; subject.kernel < subject.file.kernels.size(); ++subject.kernel) {
        const KernelModel& kernel = subject.file.kernels[subject.kernel];
        subject.features = extractFeatures(kernel);
        subject.range = kernel.span;
        for (const auto& skill : makeCatalogue()) {
            const auto offer = skill->prepare(subject.context());
            if (!offer)
                continue;
            const auto edits = skill->apply(subject.context(), *offer);
            if (!edits || edits->size() != 1)
                continue;
            const auto after = applyEdits(before, edits->begin()->second);
            ASSERT_TRUE(after) << after.error().describe();
            EXPECT_EQ(errorsOf(parseSubject(*after).file), "")
                << skill->id() << " on " << kernel.name << ":\n"
                << *after;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(OfExamples, LoopPragmas, ::testing::ValuesIn(examples()),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

} // namespace
} // namespace kernelskill::skills
