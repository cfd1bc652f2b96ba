/* The search runs in a worker, and browsers refuse workers to pages that are opened from a folder. There a hidden frame
 * takes the worker's place. The name tells Zensical's plugin `offline` not to load a script from elsewhere for this. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.documentElement.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => setTimeout(() => this.receive(structuredClone(data)));
      this.ready = new Promise((done) => {
        const script = inside.document.createElement("script");
        script.src = new URL(address, location.href).href;
        script.onload = done;
        inside.document.documentElement.append(script);
      });
    }

    receive(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }

    async postMessage(message) {
      const data = structuredClone(message);
      await this.ready;
      const inside = this.frame.contentWindow;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
