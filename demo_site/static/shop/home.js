import { showArrival } from "./arrival.js";
import { offerNewsletter } from "./newsletter.js";
import { followTheWind } from "./wind_today.js";

followTheWind();
offerNewsletter();
showArrival();
