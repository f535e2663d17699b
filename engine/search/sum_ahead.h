/// The review of a text against the original that begins before the text is a version.
#pragma once

#include "engine/search/await.h"
#include "engine/verdict/verdict.h"

#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <utility>

namespace kernelskill::engine {

/// Its end stops the review, and waits for that.
class SumAhead {
public:
    using Review = std::function<Result<Verdict>(std::stop_token)>;

    explicit SumAhead(Review review)
        : verdict_(std::async(std::launch::async, std::move(review), over_.get_token())) {}
    SumAhead(const SumAhead&) = delete;
    SumAhead& operator=(const SumAhead&) = delete;
    ~SumAhead() { over_.request_stop(); }

    /// The verdict, once. Waits for it, or for `stop`: then it is Cancelled.
    [[nodiscard]] Result<Verdict> take(const std::stop_token& stop) {
        if (!awaitResult(verdict_, stop))
            return std::unexpected(Error{ErrorKind::Cancelled, "cancelled", {}, {}});
        return verdict_.get();
    }

private:
    std::stop_source over_;
    std::future<Result<Verdict>> verdict_;
};

} // namespace kernelskill::engine
