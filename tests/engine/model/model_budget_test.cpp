/// Requests within the budget are sent; others are refused without a request.
#include "engine/model/model_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <utility>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

/// Answers out of a list, and counts.
class PlayedModel final : public LanguageModel {
public:
    explicit PlayedModel(int& asked) : asked_(asked) {}
    [[nodiscard]] std::string name() const override { return "played"; }
    [[nodiscard]] Result<ModelReply> ask(const ModelPrompt&, std::stop_token,
                                         const ReplyProgress& progress) override {
        ++asked_;
        if (fails) {
            progress(100);
            return std::unexpected(Error{ErrorKind::Failed, "broken", {}, {}});
        }
        return reply;
    }
    ModelReply reply{"text", ReplyEnd::Finished, "m", {1000, 500}, true};
    bool fails = false;

private:
    int& asked_;
};

class ModelBudgetTest : public ::testing::Test {
protected:
    BudgetedModel& budgeted(ModelBudget budget) {
        auto played = std::make_unique<PlayedModel>(asked_);
        played_ = played.get();
        model_ = std::make_unique<BudgetedModel>(std::move(played), budget, TokenPrices{3, 15});
        return *model_;
    }
    ModelPrompt prompt_{"", {{ModelMessage::Role::User, std::string(2000, 'x')}}, 1000};
    int asked_ = 0;
    PlayedModel* played_ = nullptr;
    std::unique_ptr<BudgetedModel> model_;
};

TEST_F(ModelBudgetTest, CountsCallsTokensAndCost) {
    auto& model = budgeted({});
    ASSERT_TRUE(model.ask(prompt_, {}, {}));
    ASSERT_TRUE(model.ask(prompt_, {}, {}));
    const ModelSpending spending = model.spending();
    EXPECT_EQ(spending.calls, 2u);
    EXPECT_EQ(spending.tokens, (TokenUsage{2000, 1000}));
    EXPECT_DOUBLE_EQ(spending.cost, (2000 * 3 + 1000 * 15) / 1e6);
    EXPECT_FALSE(spending.isEstimated);
    EXPECT_EQ(describe(spending, model.prices()), "2 calls, 2000 tokens in, 1000 out, cost 0.0210");
}

TEST_F(ModelBudgetTest, RefusesTheCallThatIsOneTooMany) {
    auto& model = budgeted({.calls = 2});
    ASSERT_TRUE(model.ask(prompt_, {}, {}));
    ASSERT_TRUE(model.ask(prompt_, {}, {}));
    const auto third = model.ask(prompt_, {}, {});
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().kind, ErrorKind::Missing);
    EXPECT_EQ(third.error().where, "kernelskill.model.maxCalls");
    EXPECT_EQ(asked_, 2);
}

TEST_F(ModelBudgetTest, RefusesWhatMightCostTooManyTokens) {
    // A call may take some 1000 tokens in, by the estimate, and 1000 out; it takes 1500.
    auto& model = budgeted({.tokens = 3600});
    ASSERT_TRUE(model.ask(prompt_, {}, {}));
    ASSERT_TRUE(model.ask(prompt_, {}, {}));
    const auto third = model.ask(prompt_, {}, {});
    ASSERT_FALSE(third);
    EXPECT_THAT(third.error().what, HasSubstr("3000 of 3600"));
    EXPECT_EQ(third.error().where, "kernelskill.model.maxTokens");
    EXPECT_EQ(asked_, 2);
}

TEST_F(ModelBudgetTest, RefusesWhatMightCostTooMuch) {
    auto& model = budgeted({.cost = 0.02});
    ASSERT_TRUE(model.ask(prompt_, {}, {})); // costs 0.0105
    const auto second = model.ask(prompt_, {}, {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().where, "kernelskill.model.maxCost");
    EXPECT_EQ(asked_, 1);
    EXPECT_LE(model.spending().cost, 0.02);
}

TEST_F(ModelBudgetTest, AFailedCallIsChargedForThePromptAndTheTextThatCame) {
    auto& model = budgeted({});
    played_->fails = true;
    ASSERT_FALSE(model.ask(prompt_, {}, {}));
    const ModelSpending spending = model.spending();
    EXPECT_EQ(spending.calls, 1u);
    EXPECT_EQ(spending.tokens, (TokenUsage{estimatedInputTokens(prompt_), estimatedTokens(100)}));
    EXPECT_TRUE(spending.isEstimated);
}

TEST_F(ModelBudgetTest, AServiceThatDoesNotCountIsEstimated) {
    auto& model = budgeted({});
    played_->reply = {.text = std::string(300, 'y')};
    ASSERT_TRUE(model.ask(prompt_, {}, {}));
    EXPECT_EQ(model.spending().tokens,
              (TokenUsage{estimatedInputTokens(prompt_), estimatedTokens(300)}));
    EXPECT_TRUE(model.spending().isEstimated);
}

} // namespace
} // namespace kernelskill::engine
