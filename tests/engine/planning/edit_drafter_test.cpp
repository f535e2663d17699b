#include "engine/planning/edit_drafter.h"

#include <gtest/gtest.h>

#include <functional>
#include <stop_token>

namespace kernelskill::engine {
namespace {

class Inserting final : public skills::Skill {
public:
    [[nodiscard]] std::string_view id() const override { return "inserting"; }
    [[nodiscard]] std::expected<skills::Offer, skills::Refusal>
    prepare(const skills::SkillContext&) const override {
        return skills::Offer{};
    }
    [[nodiscard]] Result<analysis::EditSet> apply(const skills::SkillContext& context,
                                                  const skills::Offer& offer) const override {
        if (whenAsked)
            whenAsked();
        if (offer.option != 1)
            return std::unexpected(Error{ErrorKind::Unsupported, "no such option", "", ""});
        if (!context.cursor().holds(offer.anchor))
            return std::unexpected(
                Error{ErrorKind::Unsupported, "the cursor is elsewhere", "", ""});
        return analysis::EditSet{{"a.cu", {{offer.anchor, "x"}}}};
    }

    std::function<void()> whenAsked;
};

class EditDrafterTest : public ::testing::Test {
protected:
    EditDrafterTest() {
        auto skill = std::make_unique<Inserting>();
        skill_ = skill.get();
        catalogue_.push_back(std::move(skill));
        skills::SkillMetadata document;
        document.id = "inserting";
        document.numerics = skills::Numerics::Reassociates;
        documents_.push_back(document);
        offer_.skillId = "inserting";
        offer_.anchor = {3, 5};
        offer_.option = 1;
    }
    [[nodiscard]] Result<ProposedEdit> proposed(const std::stop_token& stop = {}) const {
        const EditDrafter drafter(catalogue_, documents_);
        return drafter.propose(file_, kernel_, features_, offer_, nullptr, stop);
    }

    Inserting* skill_ = nullptr;
    std::vector<std::unique_ptr<skills::Skill>> catalogue_;
    std::vector<skills::SkillMetadata> documents_;
    analysis::FileModel file_;
    analysis::KernelModel kernel_;
    analysis::Features features_;
    skills::Offer offer_;
};

TEST_F(EditDrafterTest, EditsWhereTheOfferPoints) {
    const auto edit = proposed();
    ASSERT_TRUE(edit);
    EXPECT_EQ(edit->edits.at("a.cu").at(0), (analysis::TextEdit{{3, 5}, "x"}));
    EXPECT_EQ(edit->accuracy.numerics, skills::Numerics::Reassociates);
}

TEST_F(EditDrafterTest, TakesTheNumericsOfTheOfferWhereItHasItsOwn) {
    offer_.numerics = skills::Numerics::Exact;
    EXPECT_EQ(proposed()->accuracy.numerics, skills::Numerics::Exact);
}

TEST_F(EditDrafterTest, PassesARefusalOnAndNamesASkillThatIsNotThere) {
    offer_.option = 2;
    EXPECT_EQ(proposed().error().what, "no such option");
    offer_.skillId = "gone";
    EXPECT_EQ(proposed().error().kind, ErrorKind::InvalidInput);
    EXPECT_EQ(proposed().error().what, "there is no skill gone");
}

TEST_F(EditDrafterTest, MakesNoEditWhenItIsStopped) {
    std::stop_source stop;
    int asked = 0;
    skill_->whenAsked = [&] {
        ++asked;
        stop.request_stop(); // While the skill works.
    };
    EXPECT_EQ(proposed(stop.get_token()).error().kind, ErrorKind::Cancelled);
    EXPECT_EQ(proposed(stop.get_token()).error().kind, ErrorKind::Cancelled);
    EXPECT_EQ(asked, 1) << "nobody is asked after the stop";
}

} // namespace
} // namespace kernelskill::engine
