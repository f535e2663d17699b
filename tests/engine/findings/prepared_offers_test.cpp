#include "engine/findings/kernel_insights.h"
#include "engine/findings/prepared_offers.h"
#include "tests/engine/workbench/workbench_fixture.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::Span;
using kernelskill::testing::WorkbenchFixture;

/// Offers itself at the start of the text and elsewhere differently, and counts how often it is
/// asked.
class CountingSkill final : public skills::Skill {
public:
    [[nodiscard]] std::string_view id() const override { return "counting"; }
    [[nodiscard]] skills::Gated<skills::Offer>
    prepare(const skills::SkillContext& context) const override {
        ++asked;
        skills::Offer offer;
        offer.title = context.cursor().touches(start) ? "at the start" : "elsewhere";
        return offer;
    }
    [[nodiscard]] Result<analysis::EditSet> apply(const skills::SkillContext&,
                                                  const skills::Offer&) const override {
        return analysis::EditSet{};
    }

    static constexpr Span start{0, 10};
    mutable int asked = 0;
};

class PreparedOffersTest : public WorkbenchFixture {
protected:
    [[nodiscard]] skills::SkillContext contextOf(KernelRef kernel, Span cursor) {
        return {kernel.file(), kernel.kernel, *workbench_->knowledge().features(kernel), cursor};
    }

    const ProgramSource source_ = program("__global__ void k(float* x) { x[threadIdx.x] = 0; }\n"
                                          "__global__ void l(float* x) { x[threadIdx.x] = 1; }\n"
                                          "void run(float* x) { k<<<64, 256>>>(x); }\n");
    const KernelRef kernel_{source_, source_.model->kernels.at(0)};
};

TEST_F(PreparedOffersTest, ASkillIsAskedOncePerPlaceThatItTellsApart) {
    const CountingSkill skill;
    const CountingSkill other;
    PreparedOffers prepared(std::nullopt);
    const auto title = [&](const skills::Skill& asked, Span cursor) {
        return prepared.of(asked, contextOf(kernel_, cursor), cursor)->title;
    };
    EXPECT_EQ(title(skill, {3, 3}), "at the start");
    EXPECT_EQ(title(skill, {10, 10}), "at the start");
    EXPECT_EQ(title(skill, {4, 40}), "at the start");
    EXPECT_EQ(skill.asked, 1);
    EXPECT_EQ(title(skill, {11, 11}), "elsewhere");
    EXPECT_EQ(title(skill, {30, 40}), "elsewhere");
    EXPECT_EQ(title(skill, {5, 5}), "at the start");
    EXPECT_EQ(skill.asked, 2);
    EXPECT_EQ(title(other, {5, 5}), "at the start");
    EXPECT_EQ(other.asked, 1);
    EXPECT_EQ(skill.asked, 2);
}

TEST_F(PreparedOffersTest, AreOfOneKernelOfOneParseAndWhatTheCompilerSaid) {
    KernelInsights insights;
    const auto first = insights.prepared(kernel_, std::nullopt);
    EXPECT_EQ(insights.prepared(kernel_, std::nullopt), first);
    EXPECT_NE(insights.prepared({source_, source_.model->kernels.at(1)}, std::nullopt), first);
    const ProgramSource again = program(source_.text);
    EXPECT_NE(insights.prepared({again, again.model->kernels.at(0)}, std::nullopt), first);
    skills::CompiledKernel compiled;
    compiled.registers = 32;
    const auto second = insights.prepared(kernel_, compiled);
    EXPECT_NE(second, first);
    EXPECT_EQ(second->compiled(), compiled);
    EXPECT_EQ(insights.prepared(kernel_, compiled), second);
    compiled.registers = 33;
    EXPECT_NE(insights.prepared(kernel_, compiled), second);
}

TEST_F(PreparedOffersTest, FollowWhatTheCompilerSaysLater) {
    const ShortTermMemory memory(folder_.path(), folder_.path() / "k.cu");
    const auto refusal = [&] {
        const Plan plan = workbench_->advisor().plan(kernel_, kernel_.kernel.span, memory);
        const auto found = std::ranges::find(plan.ruledOut, "launch-bounds", &RuledOut::skill);
        return found == plan.ruledOut.end() ? std::string() : found->why;
    };
    EXPECT_THAT(refusal(), ::testing::StartsWith("needs-compiled-facts: "));
    StaticFacts facts;
    facts.architecture = "sm_90";
    facts.registers = 40;
    KernelKnowledge& knowledge = workbench_->knowledge();
    ASSERT_TRUE(knowledge.launch(kernel_));
    knowledge.profiles().insert(knowledge.insights().key(kernel_),
                                {nullptr, std::make_shared<const Result<StaticFacts>>(facts)});
    EXPECT_THAT(refusal(), ::testing::Not(::testing::StartsWith("needs-compiled-facts: ")));
}

TEST_F(PreparedOffersTest, OfAllKernelsAreMadeAheadUnlessAnotherTextHasCome) {
    const ShortTermMemory memory(folder_.path(), folder_.path() / "k.cu");
    const auto skillsKnown = [&](const ProgramSource& source, std::size_t index) {
        const KernelRef kernel{source, source.model->kernels.at(index)};
        const auto prepared = workbench_->knowledge().insights().prepared(kernel, std::nullopt);
        return static_cast<std::size_t>(
            std::ranges::count_if(workbench_->library().skills, [&](const auto& skill) {
                return prepared->known(*skill, kernel.kernel.span).has_value();
            }));
    };
    const std::size_t all = workbench_->library().skills.size();
    int asked = 0;
    workbench_->advisor().prepare(source_, memory, [&] { return ++asked == 2; });
    EXPECT_EQ(skillsKnown(source_, 0), all);
    EXPECT_EQ(skillsKnown(source_, 1), 0U);
    workbench_->advisor().prepare(source_, memory, [] { return false; });
    EXPECT_EQ(skillsKnown(source_, 1), all);
    const ProgramSource edited = program(source_.text + "// edited");
    EXPECT_EQ(skillsKnown(edited, 0), 0U);
}

std::string describe(const skills::Gated<skills::Offer>& said) {
    if (!said)
        return said.error().gate + ": " + said.error().reason;
    return fmt::format(
        "{} {} {}-{} {} {} {} {}", said->title, said->why, said->anchor.begin, said->anchor.end,
        said->option, said->numerics ? static_cast<int>(*said->numerics) : -1,
        said->gain ? said->gain->basis : "", said->role ? static_cast<int>(*said->role) : -1);
}

/// Every line of the kernel, the first character of each, the names in it, and the whole kernel.
std::vector<Span> cursorsIn(const analysis::SourceText& source, Span kernel) {
    std::vector<Span> cursors{kernel};
    const std::string& text = source.text();
    for (std::uint32_t at = kernel.begin; at < kernel.end; ++at) {
        const bool isLineStart = at == kernel.begin || text[at - 1] == '\n';
        const auto isOfName = [&](std::uint32_t offset) {
            return std::isalpha(static_cast<unsigned char>(text[offset])) != 0;
        };
        if (isLineStart)
            cursors.push_back(source.lineSpan(source.lineColumn(at).line));
        if (isLineStart || (isOfName(at) && !isOfName(at - 1)))
            cursors.push_back({at, at});
    }
    return cursors;
}

TEST_F(PreparedOffersTest, AreWhatEachSkillSaysOfItsOwnExampleAtEachCursor) {
    const skills::SkillLibrary& library = workbench_->library();
    std::size_t asked = 0;
    for (const auto& example : library.skills) {
        const auto file = std::filesystem::path(paths::sourceFolder) / "skills" /
                          std::string(example->id()) / "before.cu";
        std::ifstream stream(file);
        const ProgramSource source = program({std::istreambuf_iterator<char>(stream), {}});
        for (const analysis::KernelModel& kernel : source.model->kernels) {
            PreparedOffers prepared(std::nullopt);
            for (const Span cursor : cursorsIn(*source.model->source, kernel.span)) {
                const auto context = contextOf({source, kernel}, cursor);
                const auto got = prepared.of(*example, context, cursor);
                ASSERT_EQ(describe(got), describe(example->prepare(context.at(cursor))))
                    << file << " at " << cursor.begin << " to " << cursor.end;
                ++asked;
            }
        }
    }
    EXPECT_GT(asked, 1000U);
}

} // namespace
} // namespace kernelskill::engine
