#include "engine/model/http_transport.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <utility>

namespace kernelskill::engine {
namespace {

using Clock = std::chrono::steady_clock;

using EasyHandle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using MultiHandle = std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)>;
using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;
using UrlHandle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::unexpected<HttpFailure> failure(ErrorKind kind, std::string what, bool isTransient) {
    return std::unexpected(HttpFailure{{kind, std::move(what), {}, {}}, isTransient});
}

std::string header(CURL* easy, const char* name) {
    curl_header* found = nullptr;
    return curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK ? found->value
                                                                                  : std::string();
}

HttpHead headOf(CURL* easy) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    std::string type = header(easy, "content-type");
    type.resize(std::min(type.size(), type.find(';')));
    while (type.ends_with(' '))
        type.pop_back();
    std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
    return {static_cast<int>(status), std::move(type), header(easy, "retry-after")};
}

/// One request on its way.
struct Exchange {
    CURL* easy = nullptr;
    const HttpBodySink* sink = nullptr;
    std::size_t largest = 0;
    std::size_t received = 0;
    Clock::time_point lastByte = Clock::now();
    std::optional<HttpHead> head;
    bool isEnough = false;
    bool isTooLarge = false;

    bool take(std::string_view bytes) {
        lastByte = Clock::now();
        received += bytes.size();
        if (received > largest) {
            isTooLarge = true;
            return false;
        }
        if (!head)
            head = headOf(easy);
        isEnough = !(*sink)(*head, bytes);
        return !isEnough;
    }
};

std::size_t onWrite(char* bytes, std::size_t, std::size_t count, void* exchange) {
    return static_cast<Exchange*>(exchange)->take({bytes, count}) ? count : CURL_WRITEFUNC_ERROR;
}

std::size_t onHeader(char*, std::size_t, std::size_t count, void* exchange) {
    static_cast<Exchange*>(exchange)->lastByte = Clock::now();
    return count;
}

/// What holds for every connection.
void secure(CURL* easy, const std::string& url, bool isThisMachine) {
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    // A thread that looks up a name is not waited for when the request is cancelled.
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "kernelskill");
    if (isThisMachine)
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
}

/// Whether what failed may go well the next time. A certificate that is not trusted will not.
bool isTransient(CURLcode code) {
    constexpr std::array<CURLcode, 9> transient{
        CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY,
        CURLE_COULDNT_CONNECT,      CURLE_OPERATION_TIMEDOUT,
        CURLE_SSL_CONNECT_ERROR,    CURLE_GOT_NOTHING,
        CURLE_SEND_ERROR,           CURLE_RECV_ERROR,
        CURLE_PARTIAL_FILE};
    return std::ranges::find(transient, code) != transient.end() || code == CURLE_HTTP2 ||
           code == CURLE_HTTP2_STREAM;
}

struct Patience {
    Clock::time_point end;
    std::chrono::milliseconds silence;
};

/// Drives the transfer to its end; an error of ours (cancelled, too late) or curl's code.
std::expected<CURLcode, HttpFailure> perform(CURL* easy, const Exchange& exchange,
                                             const Patience& patience,
                                             const std::stop_token& stop) {
    const MultiHandle multi(curl_multi_init(), curl_multi_cleanup);
    if (!multi)
        return failure(ErrorKind::Failed, "libcurl cannot be started", false);
    const std::stop_callback wake(stop, [&multi] { curl_multi_wakeup(multi.get()); });
    curl_multi_add_handle(multi.get(), easy);
    struct Removal {
        CURLM* multi;
        CURL* easy;
        ~Removal() { curl_multi_remove_handle(multi, easy); }
    };
    const Removal removal{multi.get(), easy};
    while (true) {
        if (stop.stop_requested())
            return failure(ErrorKind::Cancelled, "cancelled", false);
        int running = 0;
        if (curl_multi_perform(multi.get(), &running) != CURLM_OK)
            return failure(ErrorKind::Failed, "libcurl gave up", false);
        int left = 0;
        if (const CURLMsg* message = curl_multi_info_read(multi.get(), &left);
            message != nullptr && message->msg == CURLMSG_DONE)
            return message->data.result;
        const auto now = Clock::now();
        const auto quiet = exchange.lastByte + patience.silence;
        if (now >= patience.end)
            return failure(ErrorKind::Failed, "timed out", false);
        if (now >= quiet)
            return failure(ErrorKind::Failed,
                           "timed out: nothing came for " +
                               std::to_string(patience.silence.count()) + " ms",
                           exchange.received == 0);
        const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::min(quiet, patience.end) - now);
        curl_multi_poll(multi.get(), nullptr, 0, static_cast<int>(wait.count()) + 1, nullptr);
    }
}

std::string describe(CURLcode code, const std::array<char, CURL_ERROR_SIZE>& message) {
    return message.front() != '\0' ? std::string(message.data()) : curl_easy_strerror(code);
}

std::string part(CURLU* url, CURLUPart which) {
    char* text = nullptr;
    if (curl_url_get(url, which, &text, 0) != CURLUE_OK)
        return {};
    std::string result = text;
    curl_free(text);
    return result;
}

} // namespace

std::expected<HttpHead, HttpFailure> post(const HttpRequest& request, const HttpLimits& limits,
                                          std::stop_token stop, const HttpBodySink& onBody) {
    const auto parts = partsOf(request.url);
    if (!parts)
        return std::unexpected(HttpFailure{parts.error(), false});
    const EasyHandle easy(curl_easy_init(), curl_easy_cleanup);
    if (!easy)
        return failure(ErrorKind::Failed, "libcurl cannot be started", false);
    HeaderList headers(nullptr, curl_slist_free_all);
    for (const std::string& line : request.headers)
        headers.reset(curl_slist_append(headers.release(), line.c_str()));
    headers.reset(curl_slist_append(headers.release(), "expect:"));

    Exchange exchange;
    exchange.easy = easy.get();
    exchange.sink = &onBody;
    exchange.largest = limits.bytes;
    std::array<char, CURL_ERROR_SIZE> message{};
    secure(easy.get(), request.url, parts->isThisMachine);
    curl_easy_setopt(easy.get(), CURLOPT_ERRORBUFFER, message.data());
    curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(easy.get(), CURLOPT_POST, 1L);
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(easy.get(), CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(limits.connect.count()));
    curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, onWrite);
    curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &exchange);
    curl_easy_setopt(easy.get(), CURLOPT_HEADERFUNCTION, onHeader);
    curl_easy_setopt(easy.get(), CURLOPT_HEADERDATA, &exchange);

    const auto code =
        perform(easy.get(), exchange, {Clock::now() + limits.total, limits.silence}, stop);
    if (!code)
        return std::unexpected(code.error());
    if (exchange.isTooLarge)
        return failure(ErrorKind::Failed,
                       "the answer is longer than " + std::to_string(limits.bytes) + " bytes",
                       false);
    if (*code != CURLE_OK && !exchange.isEnough)
        return failure(ErrorKind::Failed, describe(*code, message),
                       isTransient(*code) && exchange.received == 0);
    return exchange.head ? std::move(*exchange.head) : headOf(easy.get());
}

std::expected<void, HttpFailure> reach(const std::string& url, std::chrono::milliseconds time,
                                       std::stop_token stop) {
    const auto parts = partsOf(url);
    if (!parts)
        return std::unexpected(HttpFailure{parts.error(), false});
    const EasyHandle easy(curl_easy_init(), curl_easy_cleanup);
    if (!easy)
        return failure(ErrorKind::Failed, "libcurl cannot be started", false);
    std::array<char, CURL_ERROR_SIZE> message{};
    secure(easy.get(), url, parts->isThisMachine);
    curl_easy_setopt(easy.get(), CURLOPT_ERRORBUFFER, message.data());
    curl_easy_setopt(easy.get(), CURLOPT_CONNECT_ONLY, 1L);
    const auto code = perform(easy.get(), {}, {Clock::now() + time, time}, stop);
    if (!code)
        return std::unexpected(code.error());
    if (*code != CURLE_OK)
        return failure(ErrorKind::Failed, describe(*code, message), isTransient(*code));
    return {};
}

bool isTransientStatus(int status) {
    constexpr std::array<int, 7> transient{408, 429, 500, 502, 503, 504, 529};
    return std::ranges::find(transient, status) != transient.end();
}

Result<UrlParts> partsOf(const std::string& url) {
    const auto refused = [&](std::string what) {
        return std::unexpected(Error{ErrorKind::InvalidInput, std::move(what),
                                     "kernelskill.model.endpoint",
                                     "give a URL such as https://host/v1"});
    };
    const UrlHandle handle(curl_url(), curl_url_cleanup);
    if (!handle || curl_url_set(handle.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK)
        return refused("the endpoint is no URL");
    UrlParts parts{part(handle.get(), CURLUPART_SCHEME), part(handle.get(), CURLUPART_HOST)};
    if (parts.scheme != "http" && parts.scheme != "https")
        return refused("the endpoint is neither https nor http");
    if (!part(handle.get(), CURLUPART_USER).empty() ||
        !part(handle.get(), CURLUPART_PASSWORD).empty())
        return refused("the endpoint holds a user or a password, which belong in no setting");
    if (!part(handle.get(), CURLUPART_QUERY).empty() ||
        !part(handle.get(), CURLUPART_FRAGMENT).empty())
        return refused("the endpoint holds a query or a fragment");
    // An address only: a name such as 127.example.org belongs to somebody else.
    const bool isLoopback =
        parts.host.starts_with("127.") && std::ranges::all_of(parts.host, [](unsigned char c) {
            return c == '.' || std::isdigit(c) != 0;
        });
    parts.isThisMachine = isLoopback || parts.host == "localhost" || parts.host == "[::1]";
    return parts;
}

} // namespace kernelskill::engine
