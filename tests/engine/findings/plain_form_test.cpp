#include "analysis/parse/translation_unit.h"
#include "engine/findings/plain_form.h"
#include "engine/planning/edit_drafter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Takes kernels whose first loop is a for loop, and names the loop's line.
class ForLoops final : public skills::Skill {
public:
    [[nodiscard]] std::string_view id() const override { return "for-loops"; }
    [[nodiscard]] skills::Gated<skills::Offer>
    prepare(const skills::SkillContext& context) const override {
        const analysis::Loop& loop = context.kernel.loops.at(0);
        if (loop.kind != analysis::LoopKind::For)
            return std::unexpected(skills::Refusal{"no-for-loop", "it is no for loop"});
        skills::Offer offer;
        offer.skillId = id();
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = context.kernel.body.stmt(loop.statement).span;
        const auto line = context.file.source->lineColumn(offer.anchor.begin).line + 1;
        offer.why = "the loop on line " + std::to_string(line) + " is a for loop";
        return offer;
    }
    [[nodiscard]] std::vector<skills::Offer>
    alternatives(const skills::SkillContext& context) const override {
        std::vector<skills::Offer> all;
        if (auto offer = prepare(context)) {
            all.push_back(*std::move(offer));
            all.back().option = 7;
        }
        return all;
    }
    [[nodiscard]] Result<analysis::EditSet> apply(const skills::SkillContext& context,
                                                  const skills::Offer& offer) const override {
        const std::uint32_t at = offer.anchor.begin;
        return analysis::EditSet{{context.file.file, {{{at, at}, "#pragma unroll 2\n    "}}}};
    }
};

const std::string walking = R"(__global__ void k(const float* x, float* y, int n) {
    const float* p = x;
    const float* end = p + n;
    while (p < end) {
        y[0] += *p;
        ++p;
    }
}
)";

class PlainFormTest : public ::testing::Test {
protected:
    PlainFormTest() {
        catalogue_.push_back(std::make_unique<ForLoops>());
        skills::SkillMetadata document;
        document.id = "for-loops";
        documents_.push_back(document);
    }
    void parse(const std::string& text) {
        program_.file = "/nowhere/walk.cu";
        program_.text = text;
        auto model = analysis::analyzeFile(program_.file, text, program_.command, toolchain_);
        ASSERT_TRUE(model) << model.error().describe();
        program_.model = std::make_shared<const analysis::FileModel>(*std::move(model));
        ASSERT_FALSE(program_.model->kernels.empty());
    }
    [[nodiscard]] KernelRef kernel() const { return {program_, program_.model->kernels.front()}; }
    [[nodiscard]] PlainOffers offers() const {
        return plainOffersOf(kernel(), analysis::extractFeatures(kernel().kernel), catalogue_,
                             toolchain_);
    }

    analysis::Toolchain toolchain_ =
        analysis::findToolchain({.cudaPath = std::nullopt, .ignoreToolkit = true}).value();
    std::vector<std::unique_ptr<skills::Skill>> catalogue_;
    std::vector<skills::SkillMetadata> documents_;
    ProgramSource program_;
};

TEST_F(PlainFormTest, CountsRoundsAndSaysWhereOffersAreInTheText) {
    parse(walking);
    const PlainOffers plain = offers();
    ASSERT_TRUE(plain.form);
    const auto text = analysis::applyEdits(walking, plain.form->edits);
    ASSERT_TRUE(text);
    EXPECT_EQ(*text, plain.form->model->source->text());
    EXPECT_THAT(*text, HasSubstr("for (int j = 0; j < n; ++j) {\n        y[0] += p[j];\n    }"));
    ASSERT_THAT(plain.offers, SizeIs(1));
    const skills::Offer& offer = plain.offers[0];
    EXPECT_THAT(offer.why, HasSubstr("the loop on line 4 ")) << "line 3 of the plain form";
    EXPECT_TRUE(program_.model->source->slice(offer.anchor).starts_with("while (p < end)"));
    ASSERT_TRUE(offer.plainAnchor);
    EXPECT_TRUE(plain.form->model->source->slice(*offer.plainAnchor).starts_with("for (int j"));
    ASSERT_THAT(plain.alternatives, SizeIs(1));
    EXPECT_EQ(plain.alternatives[0].option, 7);
}

TEST_F(PlainFormTest, IsEditedInOneStepWithTheTextAsItWas) {
    parse(walking);
    const PlainOffers plain = offers();
    ASSERT_THAT(plain.offers, SizeIs(1));
    const EditDrafter drafter(catalogue_, documents_);
    const auto edit =
        drafter.propose(kernel().file(), kernel().kernel, {}, plain.offers[0], &*plain.form, {});
    ASSERT_TRUE(edit) << edit.error().describe();
    EXPECT_EQ(analysis::applyEdits(walking, edit->edits.at(program_.file)).value(),
              R"(__global__ void k(const float* x, float* y, int n) {
    const float* p = x;
    #pragma unroll 2
    for (int j = 0; j < n; ++j) {
        y[0] += p[j];
    }
}
)");
    const auto without =
        drafter.propose(kernel().file(), kernel().kernel, {}, plain.offers[0], nullptr, {});
    ASSERT_FALSE(without);
    EXPECT_EQ(without.error().kind, ErrorKind::InvalidInput);
}

TEST_F(PlainFormTest, RewritesLoopsInLoops) {
    parse(R"(__global__ void k(const float* x, float* y, int m, int n) {
    const float* p = x;
    int i = 0;
    while (i < m) {
        const float* q = p;
        for (int j = 0; j < n; ++j, q += m)
            y[i] += *q;
        p += 1;
        ++i;
    }
}
)");
    const PlainOffers plain = offers();
    ASSERT_TRUE(plain.form);
    EXPECT_EQ(plain.form->model->source->text(),
              R"(__global__ void k(const float* x, float* y, int m, int n) {
    const float* p = x;
    for (int i = 0; i < m; ++i) {
        const float* q = p + i;
        for (int j = 0; j < n; ++j)
            y[i] += q[(long long)j * m];
    }
}
)");
}

TEST_F(PlainFormTest, WritesOutWhatStandsInMacrosAndInGridStrideLoops) {
    const std::string text = R"(#define AT(p, i, j) p[(i) * n + (j)]
__global__ void k(const float* x, float* y, int m, int n) {
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < n; j += gridDim.x * blockDim.x) {
        int i = 0;
        while (i < m) {
            AT(y, i, j) = *(x + i);
            ++i;
        }
    }
}
void launch(const float* x, float* y, int n) {
    k<<<16, 128>>>(x, y, 8, n);
}
)";
    parse(text);
    const PlainOffers plain = offers();
    ASSERT_TRUE(plain.form);
    EXPECT_EQ(analysis::applyEdits(text, plain.form->edits).value(),
              R"(#define AT(p, i, j) p[(i) * n + (j)]
__global__ void k(const float* x, float* y, int m, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) {
        for (int i = 0; i < m; ++i) {
            y[(i) * n + (j)] = x[i];
        }
    }
}
void launch(const float* x, float* y, int n) {
    k<<<n / 128 + 1, 128>>>(x, y, 8, n);
}
)");
}

TEST_F(PlainFormTest, IsThatOfNoOtherKernel) {
    const std::vector<std::string> texts = {
        // It is plain.
        "__global__ void k(float* y, int n) {\n    for (int j = 0; j < n; ++j)\n"
        "        y[j] = 0;\n}\n",
        // It does not compile.
        "__global__ void k(const float* x, float* y, int n) {\n    const float* p = x;\n"
        "    while (p < x + n)\n        y[0] += *p++ + missing;\n}\n",
        // A macro has the kernel.
        "#define KERNEL(name) __global__ void name(const float* p, const float* end, float* y) { "
        "while (p < end) { y[0] += *p; ++p; } }\nKERNEL(k)\n",
    };
    for (const std::string& text : texts) {
        parse(text);
        EXPECT_FALSE(offers().form) << text;
    }
}

TEST_F(PlainFormTest, HasNoOffersOfSkillsThatTakeTheText) {
    parse(R"(__global__ void k(const float* x, float* y, int n) {
    for (int j = 0; j < n; ++j)
        y[j] = 0;
    const float* p = x;
    const float* end = p + n;
    while (p < end)
        y[0] += *p++;
}
)");
    const PlainOffers plain = offers();
    EXPECT_TRUE(plain.form);
    EXPECT_THAT(plain.offers, SizeIs(0));
}

} // namespace
} // namespace kernelskill::engine
