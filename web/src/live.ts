// A page that `plumb watch --serve` shows asks for news, and is told when the
// program has ended or plumb is gone. Nothing is ever sent but the number of what
// it has.

import type { PageData, Report } from "./report";

export type LiveState = "live" | "ended" | "lost";

interface News { stamp: number; ended: boolean; report: Report; page: PageData }

export function follow(every: number, on_news: (report: Report, page: PageData) => void,
                       on_state: (state: LiveState) => void): void {
  let have = 0;
  let state: LiveState | undefined;
  const tell = (next: LiveState) => {
    if (next !== state) on_state(next);
    state = next;
  };
  const ask = async () => {
    try {
      const answer = await fetch(`data?have=${have}`, { cache: "no-store" });
      if (answer.status === 200) {
        const news = (await answer.json()) as News;
        have = news.stamp;
        on_news(news.report, news.page);
        tell(news.ended ? "ended" : "live");
      } else if (answer.status !== 204) tell("lost");
      else if (state === "lost") have = 0; // it is back; what it says is asked anew
    } catch {
      tell("lost");
    }
    window.setTimeout(() => void ask(), every * 1000);
  };
  void ask();
}
