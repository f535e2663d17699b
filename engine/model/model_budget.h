/// Limits what a language model may cost, and counts what it has cost.
#pragma once

#include "engine/model/language_model.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace kernelskill::engine {

/// Prices for a million tokens, in one currency that the user chooses.
struct TokenPrices {
    double input = 0;
    double output = 0;
    [[nodiscard]] double cost(const TokenUsage& usage) const {
        return (static_cast<double>(usage.input) * input +
                static_cast<double>(usage.output) * output) /
               1e6;
    }
};

struct ModelBudget {
    std::optional<std::uint64_t> calls = std::nullopt;  ///< nullopt, here and below: no limit.
    std::optional<std::uint64_t> tokens = std::nullopt; ///< Input and output together.
    std::optional<double> cost = std::nullopt;
};

struct ModelSpending {
    std::uint64_t calls = 0;
    TokenUsage tokens;
    double cost = 0;
    /// Some calls were not counted by their service, because they failed or it does not count.
    bool isEstimated = false;
};
/// "3 calls, 5120 tokens in, 801 out, 0.0273"; without a cost if there are no prices.
[[nodiscard]] std::string describe(const ModelSpending& spending, const TokenPrices& prices);

/// A model that stops answering when its budget is spent. Before each call, its maximum cost must
/// fit into the budget, beside the spent amount and the maximum cost of other calls in progress.
/// The maximum cost is the prompt's estimate plus all of `maxOutputTokens`. A failed call is
/// charged for the prompt and for the text that arrived.
class BudgetedModel final : public LanguageModel {
public:
    BudgetedModel(std::unique_ptr<LanguageModel> model, ModelBudget budget, TokenPrices prices)
        : model_(std::move(model)), budget_(budget), prices_(prices) {}

    [[nodiscard]] std::string name() const override { return model_->name(); }
    /// Missing, with the limit's name, if the call does not fit.
    [[nodiscard]] Result<ModelReply> ask(const ModelPrompt& prompt, std::stop_token stop,
                                         const ReplyProgress& progress) override;
    [[nodiscard]] ModelSpending spending() const;
    [[nodiscard]] const TokenPrices& prices() const { return prices_; }

private:
    [[nodiscard]] std::optional<Error> reserve(const TokenUsage& most);
    void settle(const TokenUsage& most, const TokenUsage& spent, bool isEstimated);

    std::unique_ptr<LanguageModel> model_;
    ModelBudget budget_;
    TokenPrices prices_;
    mutable std::mutex mutex_;
    ModelSpending spending_; ///< Includes calls in progress.
    TokenUsage reserved_;
};

} // namespace kernelskill::engine
