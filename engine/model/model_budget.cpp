#include "engine/model/model_budget.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine {
namespace {

TokenUsage operator+(const TokenUsage& a, const TokenUsage& b) {
    return {a.input + b.input, a.output + b.output};
}

Error spent(std::string what, const char* setting) {
    return {ErrorKind::Missing, std::move(what), setting,
            fmt::format("raise {}, or continue without a model", setting)};
}

} // namespace

std::string describe(const ModelSpending& spending, const TokenPrices& prices) {
    std::string text = fmt::format(
        "{} call{}, {}{} tokens in, {} out", spending.calls, spending.calls == 1 ? "" : "s",
        spending.isEstimated ? "about " : "", spending.tokens.input, spending.tokens.output);
    if (prices.input > 0 || prices.output > 0)
        text += fmt::format(", cost {:.4f}", spending.cost);
    return text;
}

std::optional<Error> BudgetedModel::reserve(const TokenUsage& most) {
    const std::scoped_lock lock(mutex_);
    if (budget_.calls && spending_.calls >= *budget_.calls)
        return spent(fmt::format("all {} calls of the language model are used up", *budget_.calls),
                     "kernelskill.model.maxCalls");
    const TokenUsage after = spending_.tokens + reserved_ + most;
    if (budget_.tokens && after.sum() > *budget_.tokens)
        return spent(fmt::format("a call of up to {} tokens does not fit: {} of {} are spent",
                                 most.sum(), (spending_.tokens + reserved_).sum(), *budget_.tokens),
                     "kernelskill.model.maxTokens");
    const double taken = spending_.cost + prices_.cost(reserved_);
    if (budget_.cost && taken + prices_.cost(most) > *budget_.cost)
        return spent(fmt::format("a call that may cost {:.4f} does not fit: {:.4f} of {:.4f} are "
                                 "spent",
                                 prices_.cost(most), taken, *budget_.cost),
                     "kernelskill.model.maxCost");
    ++spending_.calls;
    reserved_ = reserved_ + most;
    return std::nullopt;
}

void BudgetedModel::settle(const TokenUsage& most, const TokenUsage& spent, bool isEstimated) {
    const std::scoped_lock lock(mutex_);
    reserved_ = {reserved_.input - most.input, reserved_.output - most.output};
    spending_.tokens = spending_.tokens + spent;
    spending_.cost += prices_.cost(spent);
    spending_.isEstimated = spending_.isEstimated || isEstimated;
}

Result<ModelReply> BudgetedModel::ask(const ModelPrompt& prompt, std::stop_token stop,
                                      const ReplyProgress& progress) {
    const TokenUsage most{estimatedInputTokens(prompt),
                          static_cast<std::uint64_t>(std::max(0, prompt.maxOutputTokens))};
    if (auto refusal = reserve(most))
        return std::unexpected(std::move(*refusal));
    std::size_t bytes = 0;
    auto reply = model_->ask(prompt, std::move(stop), [&](std::size_t soFar) {
        bytes = soFar;
        if (progress)
            progress(soFar);
    });
    if (reply)
        bytes = reply->text.size();
    if (reply && reply->isUsageKnown)
        settle(most, reply->usage, false);
    else
        settle(most, {most.input, estimatedTokens(bytes)}, true);
    return reply;
}

ModelSpending BudgetedModel::spending() const {
    const std::scoped_lock lock(mutex_);
    return spending_;
}

} // namespace kernelskill::engine
